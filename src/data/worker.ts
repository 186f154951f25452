// The entry of a worker thread.

import { type WorkerScope, WorkerThread } from "./worker_thread.ts";

new WorkerThread(self as unknown as WorkerScope);
