//! Control clients: unusual, but correct.

controls! {
    "A control: an unusual but correct client."
    Headers = "client-headers": "requests have many headers that were not requested";
    TitleCase = "client-title-case": "names of headers are written with capitals";
    AcceptAnything = "client-accept-anything": "it accepts any media type";
    MediaTypes = "client-media-types": "the media type of requests has a parameter, and is written in other letters";
    Chunked = "client-chunked": "bodies come in small chunks, and their length is not given";
    Connections = "client-connections": "every request has a connection of its own";
    WholeTarget = "client-whole-target": "requests name the whole URL, as they do to a proxy";
    TextIds = "client-text-ids": "ids of requests are texts";
    Pretty = "client-pretty": "JSON is written over many lines";
    KeyOrder = "client-key-order": "members come in another order";
    Metadata = "client-metadata": "messages and their requests have unknown metadata";
}
