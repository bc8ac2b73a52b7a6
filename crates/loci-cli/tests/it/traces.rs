//! Traces: what a collector receives from a real server.

#[cfg(not(feature = "otlp"))]
mod without {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Command;

    use crate::run::Home;

    /// Runs a server until it listens, ends it, and returns its log.
    fn log(home: &Home) -> String {
        let mut child = home.command(&["--json", "serve", "--listen=127.0.0.1:0"]).spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        assert!(Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap().success());
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{log}");
        log
    }

    // Coverage: SPEC.2.
    #[test]
    fn a_build_without_traces_says_so_once() {
        for variable in ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] {
            let log = log(&Home::new().set(variable, "http://127.0.0.1:4318"));
            let warnings: Vec<&str> = log.lines().filter(|line| line.contains("no traces are sent")).collect();
            assert_eq!(warnings.len(), 1, "{log}");
            assert!(warnings[0].contains("WARN") && warnings[0].contains(variable), "{log}");
            assert!(warnings[0].contains("--features otlp"), "{log}");
        }
        assert!(!log(&Home::new()).contains("traces"));
        // Only a server is asked for traces.
        let run = Home::new().set("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318").run(&["stats"]);
        assert!(!run.err.contains("traces"), "{}", run.err);
    }
}

#[cfg(feature = "otlp")]
mod with {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    use serde_json::{Value, json};

    use crate::plain::send;
    use crate::run::Home;
    use crate::serve::Server;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const PARENT: &str = "b7ad6b7169203331";

    /// A request that a collector received: its head and its body.
    type Received = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

    /// Starts a collector that accepts everything. Returns its address.
    fn collector() -> (String, Received) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let received = Received::default();
        let into = received.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let into = into.clone();
                std::thread::spawn(move || receive(stream, &into));
            }
        });
        (address, received)
    }

    /// Reads the requests of one connection.
    fn receive(mut stream: TcpStream, into: &Received) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        loop {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if reader.read_line(&mut head).ok()? == 0 {
                    return None;
                }
            }
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            let mut body = vec![0; length?];
            reader.read_exact(&mut body).ok()?;
            into.lock().unwrap().push((head, body));
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
        }
    }

    /// A span as the collector sees it.
    #[derive(Debug, Default)]
    struct Span {
        trace: String,
        id: String,
        parent: String,
        name: String,
        kind: u64,
        /// The fields of each attribute, unread.
        attributes: Vec<Vec<u8>>,
    }

    impl Span {
        /// Whether it has this attribute with this text as value.
        fn has(&self, key: &str, value: &str) -> bool {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            self.attributes.iter().any(|attribute| {
                let fields = fields(attribute);
                let named = fields.iter().any(|(number, field)| *number == 1 && text(field.bytes()) == key);
                let values =
                    fields.iter().filter(|(number, _)| *number == 2).flat_map(|(_, field)| self::fields(field.bytes()));
                let mut values = values.map(|(number, field)| match (number, field) {
                    (1, Field::Bytes(bytes)) => text(&bytes),
                    (_, Field::Number(number)) => number.to_string(),
                    _ => String::new(),
                });
                named && values.any(|known| known == value)
            })
        }
    }

    /// A field of a protobuf message.
    enum Field {
        Number(u64),
        Bytes(Vec<u8>),
    }

    impl Field {
        fn bytes(&self) -> &[u8] {
            match self {
                Field::Bytes(bytes) => bytes,
                Field::Number(_) => &[],
            }
        }
    }

    /// The fields of a protobuf message, with their numbers.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, Field)> {
        fn number(bytes: &mut &[u8]) -> u64 {
            let (mut value, mut shift) = (0, 0);
            loop {
                let (first, rest) = bytes.split_first().unwrap();
                *bytes = rest;
                value |= u64::from(first & 0x7f) << shift;
                shift += 7;
                if first & 0x80 == 0 {
                    return value;
                }
            }
        }
        fn take(bytes: &mut &[u8], length: usize) -> Vec<u8> {
            let (taken, rest) = bytes.split_at(length);
            *bytes = rest;
            taken.to_vec()
        }
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let key = number(&mut bytes);
            let field = match key & 7 {
                0 => Field::Number(number(&mut bytes)),
                1 => Field::Bytes(take(&mut bytes, 8)),
                2 => {
                    let length = number(&mut bytes).try_into().unwrap();
                    Field::Bytes(take(&mut bytes, length))
                }
                5 => Field::Bytes(take(&mut bytes, 4)),
                other => panic!("wire type {other}"),
            };
            found.push((key >> 3, field));
        }
        found
    }

    /// The spans of an export: `resource_spans` (1), `scope_spans` (2), `spans` (2).
    fn spans(body: &[u8]) -> Vec<Span> {
        let within = |messages: Vec<Vec<u8>>, wanted: u64| -> Vec<Vec<u8>> {
            let all = messages.iter().flat_map(|message| fields(message));
            all.filter(|(number, _)| *number == wanted).map(|(_, field)| field.bytes().to_vec()).collect()
        };
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let read = |message: &Vec<u8>| {
            let mut span = Span::default();
            for (number, field) in fields(message) {
                match (number, field) {
                    (1, field) => span.trace = hex(field.bytes()),
                    (2, field) => span.id = hex(field.bytes()),
                    (4, field) => span.parent = hex(field.bytes()),
                    (5, field) => span.name = String::from_utf8(field.bytes().to_vec()).unwrap(),
                    (6, Field::Number(kind)) => span.kind = kind,
                    (9, field) => span.attributes.push(field.bytes().to_vec()),
                    _ => {}
                }
            }
            span
        };
        within(within(within(vec![body.to_vec()], 1), 2), 2).iter().map(read).collect()
    }

    fn contains(bytes: &[u8], text: &str) -> bool {
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }

    // Coverage: SPEC.2.
    #[test]
    fn a_request_is_a_span_of_its_callers_trace_with_its_stages_inside() {
        let (address, received) = collector();
        let home = Home::with_model()
            .set("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{address}"))
            .set("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-token=abc");
        let server = Server::start(&home);
        let parent = format!("00-{TRACE}-{PARENT}-01");
        let post = |path: &str, body: Value| {
            let headers = [
                ("traceparent", parent.as_str()),
                ("Accept", "application/json, text/event-stream"),
                ("MCP-Protocol-Version", "2025-06-18"),
            ];
            send(server.address(), "POST", path, &headers, &body).unwrap()
        };
        let ann = json!({ "userId": "annabel" });
        let (status, _) = post("/v1/memories", json!({ "content": "The lighthouse is in Vigo", "identifiers": ann }));
        assert_eq!(status, 201);
        assert_eq!(post("/v1/recall", json!({ "query": "Where is the lighthouse?", "identifiers": ann })).0, 200);
        assert_eq!(post("/v1/recall", json!({ "query": "", "identifiers": ann })).0, 400);
        let call = json!({ "name": "remember_fact", "arguments": { "fact": "The harbour is in Lugo" } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        assert_eq!(post("/mcp/full?userId=annabel", call).0, 200);
        server.stop();

        let received = received.lock().unwrap();
        assert!(!received.is_empty(), "nothing was exported");
        let mut all = Vec::new();
        for (head, body) in received.iter() {
            assert!(head.starts_with("POST /v1/traces "), "{head}");
            assert!(head.to_lowercase().contains("x-collector-token: abc"), "{head}");
            assert!(contains(body, "service.name") && contains(body, "loci"));
            for secret in ["lighthouse", "Vigo", "harbour", "Lugo", "annabel"] {
                assert!(!contains(body, secret), "`{secret}` was exported");
            }
            all.extend(spans(body));
        }
        let in_trace: Vec<&Span> = all.iter().filter(|span| span.trace == TRACE).collect();
        let child = |parent: &Span, name: &str| {
            let found = in_trace.iter().find(|span| span.parent == parent.id && span.name == name);
            *found.unwrap_or_else(|| panic!("{} has no span `{name}`: {in_trace:#?}", parent.name))
        };
        let request = |name: &str, status: &str| {
            let found = in_trace.iter().find(|span| span.name == name && span.has("http.response.status_code", status));
            let span = *found.unwrap_or_else(|| panic!("missing span `{name}` with {status}: {in_trace:#?}"));
            // 2: a server.
            assert_eq!((span.parent.as_str(), span.kind), (PARENT, 2), "{span:?}");
            span
        };
        let added = request("POST /v1/memories", "201");
        assert!(added.has("loci.operation", "addMemory") && added.has("http.route", "/v1/memories"), "{added:?}");
        assert!(added.has("http.request.method", "POST"), "{added:?}");
        child(added, "apply");
        child(added, "embed");
        let recalled = request("POST /v1/recall", "200");
        child(recalled, "rank");
        child(child(recalled, "candidates"), "embed");
        assert!(request("POST /v1/recall", "400").has("error.type", "INVALID_INPUT"));
        let tool = child(request("POST /mcp/{profile}", "200"), "mcp");
        assert!(tool.has("loci.operation", "addMemory") && tool.has("gen_ai.tool.name", "remember_fact"), "{tool:?}");
        child(tool, "apply");
        // Background work, such as counting uses, does not begin a trace.
        let roots: Vec<&Span> = all.iter().filter(|span| span.parent.is_empty()).collect();
        assert!(roots.is_empty(), "{roots:#?}");
    }

    // Coverage: SPEC.2.
    /// The collector accepts connections and never answers.
    #[test]
    fn a_silent_collector_delays_no_request_and_the_end_only_for_seconds() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}/v1/traces", silent.local_addr().unwrap());
        let home = Home::new()
            .set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint)
            // An export is always under way.
            .set("OTEL_BSP_SCHEDULE_DELAY", "10");
        let server = Server::start(&home);
        let body = json!({ "content": "The lighthouse is in Vigo", "identifiers": { "userId": "annabel" } });
        for _ in 0..10 {
            let begun = Instant::now();
            let (status, answer) = send(server.address(), "POST", "/v1/memories", &[], &body).unwrap();
            assert!(matches!(status, 200 | 201), "{answer}");
            assert!(begun.elapsed() < Duration::from_secs(3), "a request took {:?}", begun.elapsed());
        }
        let begun = Instant::now();
        server.stop();
        assert!(begun.elapsed() < Duration::from_secs(15), "the end took {:?}", begun.elapsed());
    }

    #[test]
    fn an_endpoint_that_is_no_address_is_logged_and_the_server_serves() {
        let server = Server::start(&Home::new().set("OTEL_EXPORTER_OTLP_ENDPOINT", "not an address"));
        assert_eq!(server.get("/healthz").0, 200);
        server.stop();
    }
}
