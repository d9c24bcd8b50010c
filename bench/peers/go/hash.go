package main

import (
	"encoding/binary"
	"math"
)

// The hashes of values: crates/bench/src/demo/checksum.rs.

const null = 0x910a2dec89025cc1

func mix(value uint64) uint64 {
	z := value + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func integer(value int64) uint64 {
	return number(uint64(value), uint64(value>>63), 0)
}

func number(low, high uint64, scale int) uint64 {
	return mix(mix(low) ^ high ^ uint64(scale)<<56 ^ 2)
}

func float(value float64) uint64 {
	return mix(math.Float64bits(value) ^ 3<<60)
}

func boolean(value bool) uint64 {
	if value {
		return mix(1 ^ 4<<60)
	}
	return mix(4 << 60)
}

func timestamp(microseconds int64) uint64 {
	return mix(uint64(microseconds) ^ 5<<60)
}

func date(days int64) uint64 {
	return mix(uint64(days) ^ 6<<60)
}

func text(value []byte) uint64 {
	return words(value, 7)
}

func words(value []byte, kind uint64) uint64 {
	hash := mix(uint64(len(value)) ^ kind<<60)
	at := 0
	for ; at+8 <= len(value); at += 8 {
		hash = mix(hash ^ binary.LittleEndian.Uint64(value[at:]))
	}
	if at < len(value) {
		var word [8]byte
		copy(word[:], value[at:])
		hash = mix(hash ^ binary.LittleEndian.Uint64(word[:]))
	}
	return hash
}
