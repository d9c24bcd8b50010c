//! `firearrow create`

use crate::command::firearrow;
use firearrow_testkit::{Target, matrix};

matrix!(
    [firebird_3_0, firebird_4_0, firebird_5_0, embedded_3_0, embedded_4_0, embedded_5_0],
    fn an_empty_database_is_created_once(target: &Target) {
        let url = target.fresh_url();
        let gap = if url.contains('?') { '&' } else { '?' };
        let made = firearrow(target, &["create", &format!("{url}{gap}page_size=16384&db_charset=WIN1252")]);
        let made = made.success();
        assert!(made.stdout.is_empty(), "{made:?}");
        for part in ["created ", "pages of 16384 bytes, WIN1252"] {
            assert!(made.stderr.contains(part), "{made:?}");
        }
        firearrow(target, &["create", &url]).failure(1, &[]);
        let info = firearrow(target, &["info", &url, "--json"]).success().json();
        assert_eq!((&info["page_size"], &info["database_charset"]), (&16384.into(), &"WIN1252".into()));
        assert!(firearrow(target, &["tables", &url, "--json"]).success().stdout.is_empty());

        let made = firearrow(target, &["create", &target.fresh_url(), "--json"]).success().json();
        assert_eq!(made["database_charset"], "UTF8");
        let made = firearrow(target, &["create", &target.fresh_url(), "--quiet"]).success();
        assert!(made.stdout.is_empty() && !made.stderr.contains("created"), "{made:?}");
    }
);
