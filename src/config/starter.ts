// The file that `hale init` writes: small, commented, and clean when checked as it stands.

/** The text of a first `hale.yaml`. */
export const STARTER = `# yaml-language-server: $schema=./hale.schema.json
# A first config for hale. The line above gives completion in editors once you have run: hale schema > hale.schema.json
# Check it with: hale check -c hale.yaml      Run it with: hale run -c hale.yaml
# hale takes edits of this file while it runs; a faulty edit is reported and changes nothing.

admin: { address: "127.0.0.1:9900" }    # status page, /metrics, and the hale status and hale why commands

listeners:
  - name: web
    address: 127.0.0.1:8080             # where clients connect; 0.0.0.0:8080 for every interface
    protocol: http                      # http or tcp
    upstream: app

upstreams:
  - name: app
    protocol: http1                     # http1, https or tcp
    load_balancer: round_robin          # round_robin, least_requests, random, ip_hash, peak_ewma
    endpoints:                          # who does the work
      - 127.0.0.1:9001
      - { address: "127.0.0.1:9002", weight: 2 }
    health: {}                          # endpoints that fail are taken out for a while
    # active_health:                    # ask each endpoint whether it is well
    #   path: /healthz
    #   interval_ms: 5000
    # dns_discovery:                    # endpoints by DNS, instead of or beside those above
    #   hostname: app.internal
    #   port: 8080
`;
