//! A real Chromium, driven over `WebDriver`.

use super::http::{Answer, Request};
use super::process::{Kept, PATIENCE, eventually, free_port, say_loudly};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

/// The key, as the driver knows it.
pub const ENTER: &str = "\u{e007}";

pub struct Browser {
    _driver: Kept,
    address: SocketAddr,
    session: String,
}

impl Browser {
    /// `None`, loudly, where there is no browser; a failure where one is required.
    pub fn start() -> Option<Self> {
        let driver =
            ["/usr/bin/chromedriver", "/usr/local/bin/chromedriver"].into_iter().find(|path| Path::new(path).exists());
        let Some(driver) = driver else {
            let required = std::env::var("DUET_TEST_BROWSER").is_ok_and(|value| value == "required");
            assert!(!required, "DUET_TEST_BROWSER=required, and there is no chromedriver here");
            say_loudly("NO CHROMEDRIVER FOUND: the browser's suite is SKIPPED");
            return None;
        };
        let port = free_port();
        let command = [driver.to_owned(), format!("--port={port}")];
        let driver = Kept::start(&[], &command, |command| {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        });
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        eventually("chromedriver's start", || std::net::TcpStream::connect(address).ok());
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1200,1600",
            // Nothing but the server under test can be reached.
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "timeouts": {"script": PATIENCE.as_millis(), "pageLoad": PATIENCE.as_millis()},
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"}
        }}});
        let answer = Request::new("POST", "/session").json(&wanted).send(address).expect(200).json();
        let session = answer["value"]["sessionId"].as_str().expect("a session").to_owned();
        Some(Self { _driver: driver, address, session })
    }

    fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let request = Request::new(method, &format!("/session/{}{path}", self.session));
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        request.send(self.address)
    }

    fn command(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        self.send(method, path, body).expect(200).json()["value"].take()
    }

    pub fn open(&self, url: &str) {
        self.command("POST", "/url", Some(json!({"url": url})));
    }

    pub fn run(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", Some(json!({"script": script, "args": []})))
    }

    /// Waits until an expression is true. The page itself looks, and nobody asks it again and again meanwhile.
    pub fn wait(&self, expression: &str) {
        let script = format!(
            "const done = arguments[0]; const look = () => {{ if ({expression}) done(true); else setTimeout(look, 20); }}; look();"
        );
        // A page that goes away takes its looking with it, and the driver may call that a timeout, however early it is.
        eventually(expression, || {
            let answer = self.send("POST", "/execute/async", Some(json!({"script": script, "args": []})));
            let leaves =
                ["document unloaded", "navigat", "script timeout"].iter().any(|sign| answer.text.contains(sign));
            assert!(answer.status == 200 || leaves, "{expression}: {}", answer.text);
            (answer.status == 200).then_some(())
        });
    }

    fn element(&self, css: &str) -> String {
        self.wait(&format!("document.querySelector({})", json!(css)));
        let found = self.command("POST", "/element", Some(json!({"using": "css selector", "value": css})));
        let id = found.as_object().and_then(|found| found.values().next()).and_then(Value::as_str);
        id.expect("an element").to_owned()
    }

    /// Does something with an element. One that was drawn anew meanwhile is looked for again, and one that is not to be
    /// seen yet is waited for, as a person would: the driver answers a click before the page did what it asks for (a menu
    /// opens). Nothing was done in either case.
    fn with_element(&self, css: &str, what: &str, body: &Value) {
        eventually(&format!("{what} {css}"), || {
            let element = self.element(css);
            let answer = self.send("POST", &format!("/element/{element}/{what}"), Some(body.clone()));
            let not_yet =
                ["stale element reference", "element not interactable"].iter().any(|one| answer.text.contains(one));
            assert!(answer.status == 200 || not_yet, "{what} {css}: {}", answer.text);
            (answer.status == 200).then_some(())
        });
    }

    pub fn click(&self, css: &str) {
        self.with_element(css, "click", &json!({}));
    }

    /// Replaces what stands in a field, as a person at the keyboard would.
    pub fn fill(&self, css: &str, text: &str) {
        self.with_element(css, "clear", &json!({}));
        self.enter(css, text);
    }

    /// Types into a field, after what stands there. `ENTER` is a key as well.
    pub fn enter(&self, css: &str, text: &str) {
        self.with_element(css, "value", &json!({"text": text}));
    }

    fn cdp(&self, command: &str, params: &Value) -> Value {
        self.command("POST", "/goog/cdp/execute", Some(json!({"cmd": command, "params": params})))
    }

    /// What a script answers that calls `arguments[0]` when it is done.
    pub fn run_to_its_end(&self, script: &str) -> Value {
        self.command("POST", "/execute/async", Some(json!({"script": script, "args": []})))
    }

    /// A script that every page from now on begins with.
    pub fn begin_with(&self, script: &str) {
        self.cdp("Page.addScriptToEvaluateOnNewDocument", &json!({"source": script}));
    }

    /// As somebody sees it who prefers light or dark.
    pub fn prefer(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.cdp("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// As a picture of a page should be, whatever the platform shows beside it.
    pub fn without_scrollbars(&self) {
        self.cdp("Emulation.setScrollbarsHidden", &json!({"hidden": true}));
    }

    /// What is seen in the window: a PNG, as it comes over the wire, in base 64.
    pub fn picture(&self) -> String {
        self.command("GET", "/screenshot", None).as_str().expect("a picture").to_owned()
    }

    /// As wide as a desk or a phone, whatever a window may be.
    pub fn resize(&self, width: u32, height: u32) {
        // A phone would show all that is too wide smaller instead, and nobody would see that it is.
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.cdp("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// What the console complained of.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.command("POST", "/se/log", Some(json!({"type": "browser"})));
        let severe = |entry: &&Value| entry["level"] == "SEVERE";
        log.as_array().into_iter().flatten().filter(severe).map(|entry| entry["message"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _gone = Request::new("DELETE", &format!("/session/{}", self.session)).send(self.address);
    }
}
