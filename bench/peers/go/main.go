// Contestants of `firearrow bench driver` in Go. See bench/peers/README.md.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Job is what the benchmark asks for.
type Job struct {
	Way        string            `json:"way"`
	SQL        string            `json:"sql"`
	Columns    []Column          `json:"columns"`
	Host       string            `json:"host"`
	Port       int               `json:"port"`
	Database   string            `json:"database"`
	User       string            `json:"user"`
	Password   string            `json:"password"`
	Encrypted  bool              `json:"encrypted"`
	Compressed bool              `json:"compressed"`
	Library    string            `json:"library"`
	Entrypoint string            `json:"entrypoint"`
	ADBC       map[string]string `json:"adbc"`
}

// Column is a column of the result.
type Column struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Scale int    `json:"scale"`
}

// Contestant reads all rows once.
type Contestant interface {
	Connect() error
	Execute() error
	// Drain reads all rows, and adds the hashes of their cells to the sums.
	Drain(sums []uint64) (rows int64, err error)
	Release() error
}

type done struct {
	Rows     int64    `json:"rows"`
	Hashes   []string `json:"hashes"`
	ConnectS float64  `json:"connect_s"`
	ExecuteS float64  `json:"execute_s"`
	DrainS   float64  `json:"drain_s"`
	ReleaseS float64  `json:"release_s"`
	CPUS     float64  `json:"cpu_s"`
	Peak     *int64   `json:"peak_rss_bytes"`
}

func main() {
	input := bufio.NewReader(os.Stdin)
	line, _ := input.ReadBytes('\n')
	var job Job
	if err := json.Unmarshal(line, &job); err != nil {
		fail(err)
		os.Exit(1)
	}
	var contestant Contestant
	var version string
	var err error
	switch job.Way {
	case "adbc":
		contestant, version, err = newDriverManager(job)
	case "firebirdsql":
		contestant, version, err = newFirebirdSQL(job)
	default:
		err = fmt.Errorf("unknown contestant %s", job.Way)
	}
	if err != nil {
		fail(err)
		return
	}
	answer(map[string]string{"ready": version})
	for {
		if _, err := input.ReadBytes('\n'); err != nil {
			return
		}
		if done, err := turn(contestant, job); err != nil {
			fail(err)
		} else {
			answer(done)
		}
	}
}

func turn(contestant Contestant, job Job) (*done, error) {
	var result done
	fresh := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil
	sums := make([]uint64, len(job.Columns))
	cpu, last := processor(), time.Now()
	lap := func(to *float64) {
		now := time.Now()
		*to, last = now.Sub(last).Seconds(), now
	}
	if err := contestant.Connect(); err != nil {
		return nil, err
	}
	lap(&result.ConnectS)
	if err := contestant.Execute(); err != nil {
		return nil, err
	}
	lap(&result.ExecuteS)
	var err error
	if result.Rows, err = contestant.Drain(sums); err != nil {
		return nil, err
	}
	lap(&result.DrainS)
	if err := contestant.Release(); err != nil {
		return nil, err
	}
	lap(&result.ReleaseS)
	result.CPUS = processor() - cpu
	if fresh {
		result.Peak = peak()
	}
	for _, sum := range sums {
		result.Hashes = append(result.Hashes, fmt.Sprintf("%016x", sum))
	}
	return &result, nil
}

// processor returns the processor time of the process in seconds.
func processor() float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	seconds := func(time syscall.Timeval) float64 { return float64(time.Sec) + float64(time.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func peak() *int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			kib *= 1024
			return &kib
		}
	}
	return nil
}

func fail(err error) {
	answer(map[string]string{"error": strings.ReplaceAll(err.Error(), "\n", " ")})
}

func answer(value any) {
	line, _ := json.Marshal(value)
	fmt.Println(string(line))
}
