"""Envoy filters and the cluster of the external processor, as proto3 JSON.

Values: ai-gateway v1.1.0 ``internal/extensionserver/post_translate_modify.go`` and ``internal/internalapi``.
"""

from ...fleet import Object

COUNTS = "io.envoy.ai_gateway"
"""Namespace of the metadata that the processor may set (``AIGatewayFilterMetadataNamespace``)."""
INTERNAL = "aigateway.envoy.io"
"""Namespace of the metadata that hold the names of routes and backends."""
BACKEND_NAME = "per_route_rule_backend_name"
BACKEND_PATH = f"xds.upstream_host_metadata.filter_metadata['{INTERNAL}']['{BACKEND_NAME}']"
ROUTE_PATH = f"xds.route_metadata.filter_metadata['{INTERNAL}']['aigw_route_name']"
PROCESSOR = "envoy.filters.http.ext_proc/aigateway"
_CLUSTER = "ai-gateway-extproc-uds"
_TYPES = "type.googleapis.com/envoy"


def router_filter() -> Object:
    """Return the listener's filter: it processes whole requests, and whole responses unless they are streamed."""
    modes = {
        "requestHeaderMode": "SEND",
        "requestBodyMode": "BUFFERED",
        "requestTrailerMode": "SKIP",
        "responseHeaderMode": "SEND",
        "responseBodyMode": "BUFFERED",
        "responseTrailerMode": "SKIP",
    }
    return {"name": PROCESSOR, "disabled": True, "typedConfig": _external_processor(modes)}


def upstream_filters(codec: Object | None) -> list[Object]:
    """Return the end of a cluster's chain: the processor gets the headers again once the backend is chosen."""
    modes = {
        "requestHeaderMode": "SEND",
        "requestBodyMode": "NONE",
        "responseHeaderMode": "SKIP",
        "responseBodyMode": "NONE",
    }
    processor = {
        **_external_processor(modes),
        "requestAttributes": [
            BACKEND_PATH,
            f"xds.cluster_metadata.filter_metadata['{INTERNAL}']['{BACKEND_NAME}']",
            ROUTE_PATH,
        ],
    }
    processor["grpcService"]["timeout"] = "30s"
    # Envoy removes the length of a replaced body (source/extensions/filters/http/ext_proc/processor_state.cc,
    # handleHeadersResponse); the second filter sets it again.
    length = {"key": "content-length", "value": f"%DYNAMIC_METADATA({COUNTS}:content_length)%"}
    mutation = {"append": {"header": length, "appendAction": "ADD_IF_ABSENT"}}
    return [
        {"name": PROCESSOR, "typedConfig": processor},
        {
            "name": "envoy.filters.http.header_mutation",
            "typedConfig": {
                "@type": f"{_TYPES}.extensions.filters.http.header_mutation.v3.HeaderMutation",
                "mutations": {"requestMutations": [mutation]},
            },
        },
        codec
        or {
            "name": "envoy.filters.http.upstream_codec",
            "typedConfig": {"@type": f"{_TYPES}.extensions.filters.http.upstream_codec.v3.UpstreamCodec"},
        },
    ]


def upstream_options() -> Object:
    """Return the default protocol options of a cluster: HTTP/1.1."""
    return {
        "@type": f"{_TYPES}.extensions.upstreams.http.v3.HttpProtocolOptions",
        "explicitHttpConfig": {"httpProtocolOptions": {}},
    }


def _external_processor(modes: Object) -> Object:
    return {
        "@type": f"{_TYPES}.extensions.filters.http.ext_proc.v3.ExternalProcessor",
        "grpcService": {"envoyGrpc": {"clusterName": _CLUSTER}},
        "metadataOptions": {"receivingNamespaces": {"untyped": [COUNTS]}},
        "processingMode": modes,
        "messageTimeout": "10s",
        "allowModeOverride": True,
    }


def processor_cluster(host: str, port: int) -> Object:
    """Return the cluster of the processor. The real one is a sidecar that listens on a socket in the pod's volume."""
    windows = {"initialConnectionWindowSize": 1048576, "initialStreamWindowSize": 65536}
    address = {"socketAddress": {"address": host, "portValue": port}}
    return {
        "@type": f"{_TYPES}.config.cluster.v3.Cluster",
        "name": _CLUSTER,
        "type": "STATIC",
        "connectTimeout": "10s",
        "perConnectionBufferLimitBytes": 52428800,
        "typedExtensionProtocolOptions": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": f"{_TYPES}.extensions.upstreams.http.v3.HttpProtocolOptions",
                "explicitHttpConfig": {"http2ProtocolOptions": windows},
            }
        },
        "loadAssignment": {
            "clusterName": _CLUSTER,
            "endpoints": [{"lbEndpoints": [{"endpoint": {"address": address}}]}],
        },
    }
