// hale's entry: the command line with the real terminal.

import { main } from "./src/cli/main.ts";
import { realIo } from "./src/cli/terminal.ts";

if (import.meta.main) Deno.exit(await main(Deno.args, realIo()));
