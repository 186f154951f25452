// The config of each proxy for one worker thread, as text. All do the same work on a request: three X-Forwarded headers,
// and a request id that the client gets as well.

import { HOST } from "./wire.ts";

/** The ports of one run: where the endpoint listens. */
export interface EndpointPorts {
  readonly tcp: number;
  readonly http: number;
}

/** Ports and folder a proxy is given. */
export interface Setting {
  readonly folder: string;
  readonly endpoint: EndpointPorts;
  readonly tcp: number;
  readonly http: number;
}

/** The first of these paths that is a file. */
export function installed(...paths: readonly string[]): string | undefined {
  return paths.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** For HAProxy. */
export function haproxyConfig({ tcp, http, endpoint }: Setting): string {
  return `
global
  nbthread 1
  maxconn 8000
defaults
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen tcp
  mode tcp
  bind ${HOST}:${tcp} backlog 4096
  server one ${HOST}:${endpoint.tcp}
listen http
  mode http
  http-reuse always
  option forwardfor
  http-request set-header X-Forwarded-Proto http
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  unique-id-format %{+X}o%ci%cp%fi%fp%Ts%rt%pid
  unique-id-header X-Request-Id
  http-response set-header X-Request-Id %[unique-id]
  bind ${HOST}:${http} backlog 4096
  server one ${HOST}:${endpoint.http}
`;
}

const NGINX_HEADERS = `
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto http;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Request-Id $request_id;
      add_header X-Request-Id $request_id;`;

/** For nginx. */
export function nginxConfig({ folder, tcp, http, endpoint }: Setting): string {
  const module = installed("/usr/lib/nginx/modules/ngx_stream_module.so");
  const stream = `stream {
  server { listen ${HOST}:${tcp} backlog=4096; tcp_nodelay on; proxy_half_close on; proxy_pass ${HOST}:${endpoint.tcp}; }
}`;
  return `
${module === undefined ? "" : `load_module ${module};`}
master_process off;
daemon off;
pid ${folder}/nginx.pid;
error_log /dev/null crit;
events { worker_connections 16384; }
${module === undefined ? "" : stream}
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream app { server ${HOST}:${endpoint.http}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen ${HOST}:${http} backlog=4096;
    large_client_header_buffers 4 16k;
    location / {
      proxy_pass http://app;
      proxy_http_version 1.1;
${NGINX_HEADERS}
      proxy_buffer_size 16k;
      proxy_buffers 8 16k;
      proxy_max_temp_file_size 0;
    }
  }
}
`;
}

/** For hale. */
export function haleConfig({ tcp, http, endpoint }: Setting): string {
  return `
workers: 1
log: { level: warning, access: off }
limits: { max_connections: 20000 }
listeners:
  - { name: tcp, address: "${HOST}:${tcp}", protocol: tcp, upstream: tcp }
  - { name: http, address: "${HOST}:${http}", protocol: http, upstream: http }
upstreams:
  - { name: tcp, protocol: tcp, endpoints: [{ address: "${HOST}:${endpoint.tcp}" }], health: {} }
  - { name: http, protocol: http1, endpoints: [{ address: "${HOST}:${endpoint.http}" }], health: {} }
`;
}
