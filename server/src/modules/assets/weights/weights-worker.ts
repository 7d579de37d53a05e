import { parentPort, workerData } from 'node:worker_threads';
import { findFault } from './find-fault.ts';

/** The thread of `checkWeights`: gets what `findFault` takes, and answers with what it says. */
const { localPath, extension } = workerData;
parentPort?.postMessage(findFault(localPath, extension));
