import { readConfig } from '../config.ts';

/** For tests: settings of a server that uses the Python environment of this machine. */
export const realPython = { cacheDir: readConfig(process.env).cacheDir };
