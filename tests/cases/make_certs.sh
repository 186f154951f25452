#!/bin/sh
# usage: 52-make-certs.sh OUTDIR -- two private CAs and leaf certificates for the verification cases
set -eu
o=$1; mkdir -p "$o"; cd "$o"
ca() { openssl req -x509 -newkey rsa:2048 -nodes -days 7300 -subj "/CN=hale test $1" -addext basicConstraints=critical,CA:TRUE -keyout "$1.key" -out "$1.pem" 2>/dev/null; }
ca ca; ca ca2
leaf() { # file ca san start end   (dates as YYYYMMDDHHMMSSZ)
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" 2>/dev/null
  d=$(mktemp -d); : > "$d/index.txt"; echo 01 > "$d/serial"
  printf '[ca]\ndefault_ca=c\n[c]\ndir=%s\ndatabase=%s/index.txt\nserial=%s/serial\nnew_certs_dir=%s\ndefault_md=sha256\npolicy=p\nx509_extensions=x\n[p]\ncommonName=supplied\n[x]\nbasicConstraints=CA:FALSE\nsubjectAltName=%s\n' "$d" "$d" "$d" "$d" "$3" > "$d/c.cnf"
  openssl ca -batch -notext -config "$d/c.cnf" -cert "$2.pem" -keyfile "$2.key" -startdate "$4" -enddate "$5" -in "$1.csr" -out "$1.pem" 2>/dev/null
  rm -rf "$d"
}
leaf good ca DNS:app.example.test 20240101000000Z 20440101000000Z
leaf expired ca DNS:app.example.test 20200101000000Z 20210101000000Z
leaf not-yet ca DNS:app.example.test 20430101000000Z 20440101000000Z
leaf other-ca ca2 DNS:app.example.test 20240101000000Z 20440101000000Z
leaf other-name ca DNS:other.example.test 20240101000000Z 20440101000000Z
leaf wildcard ca 'DNS:*.example.test' 20240101000000Z 20440101000000Z
leaf by-ip ca IP:127.0.0.1,IP:::1 20240101000000Z 20440101000000Z
leaf local ca DNS:localhost,IP:127.0.0.1 20240101000000Z 20440101000000Z
leaf n1 ca DNS:n1.example.test 20240101000000Z 20440101000000Z
openssl req -x509 -newkey rsa:2048 -nodes -days 7300 -subj "/CN=app.example.test" -addext subjectAltName=DNS:app.example.test -keyout selfca.key -out selfca.pem 2>/dev/null
cat ca.pem ca2.pem > both.pem
printf 'not a certificate\n' > garbage.pem
ls *.pem
