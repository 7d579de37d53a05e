import { readConfig } from '../config.ts';

/** For tests that need the Python environment of this machine: settings of a server that uses it. */
export const realPython = { cacheDir: readConfig(process.env).cacheDir };
