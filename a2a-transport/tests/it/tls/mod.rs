//! Connections by TLS, at both ends.

mod client;
mod client_certificates;
mod programs;
mod reload;
mod server;

use std::error::Error as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a_transport::http::{
    ClientCertificates, HttpClient, HttpService, ServeOptions, ServerTls, ServerTlsBuilder, Tls,
    serve_tls,
};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport};
use a2a_types::ErrorKind;
use bytes::Bytes;
use http::uri::Scheme;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const H2: &str = "h2";
const HTTP1: &str = "http/1.1";

/// An authority of our own.
struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, both PEM.
type Identity = (String, String);

impl Authority {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(1);
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("Authority {number}");
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap());
        Self(issuer.unwrap())
    }

    fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }

    fn vouch_for(&self, name: &str) -> Identity {
        self.vouch_for_all(&[name])
    }

    fn vouch_for_all(&self, names: &[&str]) -> Identity {
        self.vouch_until(names, UNIX_EPOCH + Duration::from_secs(4_000_000_000))
    }

    /// Returns a certificate for these names, which expires at this time.
    fn vouch_until(&self, names: &[&str], expiry: SystemTime) -> Identity {
        let key = KeyPair::generate().unwrap();
        let all: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(all).unwrap();
        params.distinguished_name.push(DnType::CommonName, names[0]);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(1970, 1, 1) + expiry.duration_since(UNIX_EPOCH).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// Returns settings of a client that trusts this authority, and speaks these versions of TLS.
    fn config(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[&str],
        identity: Option<&Identity>,
    ) -> Arc<ClientConfig> {
        use rustls::pki_types::pem::PemObject;
        use rustls::pki_types::{CertificateDer, PrivateKeyDer};

        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider);
        let config = config.with_protocol_versions(versions).unwrap();
        let config = config.with_root_certificates(roots);
        let mut config = match identity {
            None => config.with_no_client_auth(),
            Some((chain, key)) => {
                let chain = CertificateDer::pem_slice_iter(chain.as_bytes());
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                let chain = chain.collect::<Result<_, _>>().unwrap();
                config.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        Arc::new(config)
    }
}

/// Files of a server.
struct Files {
    directory: TempDir,
}

impl Files {
    fn new((chain, key): &Identity) -> Self {
        let files = Self {
            directory: TempDir::new().unwrap(),
        };
        files.write("chain.pem", chain);
        files.write("key.pem", key);
        files
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn tls(&self) -> ServerTlsBuilder {
        ServerTls::builder(self.path("chain.pem"), self.path("key.pem"))
    }
}

/// Starts a server. It answers each request with its version of HTTP, its scheme, and the client's
/// certificates.
async fn start(tls: &ServerTls) -> SocketAddr {
    start_with(tls, ServeOptions::default()).await
}

async fn start_with(tls: &ServerTls, options: ServeOptions) -> SocketAddr {
    let answer = service_fn(|request: Request<Incoming>| async move {
        let certificates = request.extensions().get::<ClientCertificates>();
        let body = json!({
            "version": format!("{:?}", request.version()),
            "scheme": request.extensions().get::<Scheme>().map(Scheme::as_str),
            "client": certificates.map(|it| it.end_entity().to_vec()),
            "others": certificates.map(|it| it.intermediates().count()),
        });
        Ok(Response::new(Full::<Bytes>::from(body.to_string())))
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let forever = std::future::pending();
    tokio::spawn(serve_tls(listener, tls.clone(), answer, options, forever));
    address
}

/// Connects to a server, as one of this name, and shakes hands.
async fn connect(
    address: SocketAddr,
    name: &str,
    config: &Arc<ClientConfig>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::clone(config))
        .connect(name, stream)
        .await
}

/// Connects as `localhost` and asks once: by HTTP/2 if that was negotiated.
///
/// Errors: the handshake failed, or the server refused the client at its end.
async fn ask(address: SocketAddr, config: &Arc<ClientConfig>) -> std::io::Result<Value> {
    let stream = connect(address, "localhost", config).await?;
    match stream.get_ref().1.alpn_protocol() {
        Some(b"h2") => ask_http2(stream).await,
        _ => ask_http1(stream).await,
    }
}

async fn ask_http1(mut stream: TlsStream<TcpStream>) -> std::io::Result<Value> {
    let request = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    Ok(serde_json::from_str(body).unwrap())
}

async fn ask_http2(stream: TlsStream<TcpStream>) -> std::io::Result<Value> {
    use http_body_util::{BodyExt, Empty};
    use hyper_util::rt::{TokioExecutor, TokioIo};

    let io = TokioIo::new(stream);
    let made = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await;
    let (mut requests, connection) = made.map_err(std::io::Error::other)?;
    tokio::spawn(connection);
    let request = Request::get("https://localhost/").body(Empty::<Bytes>::new());
    let answer = requests.send_request(request.unwrap()).await;
    let body = answer.map_err(std::io::Error::other)?.into_body();
    let body = body.collect().await.map_err(std::io::Error::other)?;
    Ok(serde_json::from_slice(&body.to_bytes()).unwrap())
}

/// Returns the body at a URL.
async fn get(url: &str, tls: Tls) -> Result<String, Error> {
    let http = HttpClient::builder().tls(tls).build();
    let fetched = http.get(url, &Default::default()).await?;
    Ok(String::from_utf8(fetched.body.to_vec()).unwrap())
}

/// Returns the causes of a failed connection, to the last.
fn causes(error: &Error) -> String {
    assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.map(|cause| format!("{cause}; ")).collect()
}

/// Returns a file name as errors show it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Versions of TLS that the server speaks.
static VERSIONS: [&SupportedProtocolVersion; 2] =
    [&rustls::version::TLS12, &rustls::version::TLS13];

/// Time for which a test waits for what must happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent that knows no task.
struct NoTasks;

impl Transport for NoTasks {
    fn call(&self, _: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        Box::pin(std::future::ready(Err(ErrorKind::TaskNotFound.into())))
    }
}

/// Starts a server of this service.
async fn serve(tls: ServerTls, service: HttpService<NoTasks>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (options, forever) = (ServeOptions::default(), std::future::pending());
    tokio::spawn(serve_tls(listener, tls, service, options, forever));
    address
}

/// Asks for a path by HTTP/1.1, and returns the whole answer.
async fn fetch(address: SocketAddr, config: &Arc<ClientConfig>, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost:1\r\nconnection: close\r\n\r\n");
    let mut stream = connect(address, "localhost", config).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
