
/// Starts a service of chat completions that answers each request with the next deltas, and returns its URL.
fn chat_service(answers: &'static [&'static str]) -> String {
    let service = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/v1", service.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for delta in answers {
            let (mut stream, _) = service.accept().expect("a connection");
            let mut request = BufReader::new(&stream).lines().map_while(Result::ok);
            let _ = request.find(|line| line.is_empty());
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let event = format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
            let _ = write!(stream, "{head}{event}data: [DONE]\n\n");
            // Until the agent closes the connection: it would be reset with a part of the request unread.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    url
}
