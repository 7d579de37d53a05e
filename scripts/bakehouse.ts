/**
 * Entry point of `./bakehouse`. Runs before dependencies are installed, so it may only import files that need
 * no npm package. It imports the code of a command after they are installed.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeDataDir, toFolder } from '../server/src/platform/files/data-files.ts';
import type { Command } from './command.ts';
import { PlainError } from './plain-error.ts';
import { ensureDependencies } from './prepare/dependencies.ts';
import { root } from './root.ts';

type Entry = {
  summary: string;
  takesWords?: boolean;
  /** The command creates the data folder if it is missing. Other commands only read it. */
  startsServer?: boolean;
  load: () => Promise<Command>;
};

const commands: Record<string, Entry> = {
  up: {
    summary: 'start the server; installs, builds and prepares what is missing',
    startsServer: true,
    load: async () => (await import('./up.ts')).up,
  },
  dev: {
    summary: 'start the server and the web app, both reloading on change',
    startsServer: true,
    load: async () => (await import('./dev.ts')).dev,
  },
  test: {
    summary: 'run the gate, or tests whose path or name has one of WORDS; --soak: the slow tests',
    takesWords: true,
    load: async () => (await import('./test/test.ts')).test,
  },
  check: {
    summary:
      'check types, lint, format, dead code, structure, words and generated files; WORDS select checks',
    takesWords: true,
    load: async () => (await import('./check.ts')).check,
  },
  seed: {
    summary: 'add an example account and dataset to the running server; --scale: millions of rows',
    load: async () => (await import('./seed.ts')).seed,
  },
  pictures: {
    summary: "take the landing page's screenshots from the running server, with the example account",
    load: async () => (await import('./pictures.ts')).pictures,
  },
  tour: {
    summary: 'demonstrate the product on the running server: upload, fine-tune, deploy, ask, bill',
    load: async () => (await import('./tour.ts')).tour,
  },
  bench: {
    summary:
      'measure performance; WORDS select: upload store clone transfers data chat training neighbours page pictures videos lighthouse cluster; or --models, --scale',
    takesWords: true,
    load: async () => (await import('./bench.ts')).bench,
  },
  ledger: {
    summary: "'ledger verify' proves every balance and the hash chain",
    takesWords: true,
    load: async () => (await import('./ledger.ts')).ledger,
  },
  blobs: {
    summary:
      "'blobs verify' reads every stored file again and compares it with its hash; 'blobs move' copies the folder to the bucket",
    takesWords: true,
    load: async () => (await import('./blobs.ts')).blobs,
  },
  backup: {
    summary: "'backup [FILE]' copies the database, the stored files and the secret into one file",
    takesWords: true,
    load: async () => (await import('./backup.ts')).backup,
  },
  restore: {
    summary: "'restore FILE' creates a data folder from a backup",
    takesWords: true,
    load: async () => (await import('./backup.ts')).restore,
  },
  operator: {
    summary: "'operator EMAIL' creates an operator's account with a new password",
    takesWords: true,
    load: async () => (await import('./operator.ts')).operator,
  },
  import: {
    summary: "'import FOLDER' imports a local folder as a model or dataset of --user, or of --everybody",
    takesWords: true,
    load: async () => (await import('./import.ts')).importCommand,
  },
  gen: {
    summary: 'write the generated files; --check only lists stale ones',
    load: async () => (await import('./gen/gen.ts')).gen,
  },
};

const help = `Usage: ./bakehouse COMMAND [OPTIONS] [WORDS...]

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n')}

Options:
  --port NUMBER    port of web app and API, default 4080 (BAKEHOUSE_PORT)
  --data-dir PATH  folder of database, files and logs, default .bakehouse (BAKEHOUSE_DATA_DIR)
  --scale          use a large server's amount of data (seed, bench)
  --fraction PART  use this fraction of it, e.g. 0.01, default 1
  --services NAMES roles of this process, comma-separated: web, worker, reconciler; default all (up)
  --user NAME      owner, by username or email address; --everybody for all users (import)
  --title TITLE    title, default the name of the folder (import)
  --remove         delete a shared model or dataset by title, name or id (import)
  --list           list the shared models and datasets (import)
  --no-prepare     do not prepare the Python environment and the starter models (BAKEHOUSE_PREPARE=false)
  --help           this text

Settings are environment variables or lines of .env; .env.example lists them. The environment takes precedence.`;

async function main(): Promise<number> {
  const { values, positionals } = readArguments();
  const [name, ...words] = positionals;
  if (values.help || name === undefined || name === 'help') {
    console.log(help);
    return values.help || name === 'help' ? 0 : 2;
  }
  const command = commands[name];
  if (!command) throw new PlainError(`There is no command '${name}'. './bakehouse --help' lists them.`);
  if (words.length > 0 && !command.takesWords) {
    throw new PlainError(
      `'${name}' takes options only, not '${words.join(' ')}'. './bakehouse --help' lists them.`,
    );
  }

  // Paths in options are relative to the user's folder, so resolve them before changing to the root folder.
  if (values['data-dir']) process.env.BAKEHOUSE_DATA_DIR = path.resolve(values['data-dir']);
  if (values.port !== undefined) process.env.BAKEHOUSE_PORT = readPort('--port', values.port);
  if (values.prepare === false) process.env.BAKEHOUSE_PREPARE = 'false';
  const startedIn = process.cwd();
  process.chdir(root);
  // Child processes must use the same Node.
  process.env.PATH = [path.dirname(process.execPath), process.env.PATH].join(path.delimiter);
  if (existsSync('.env')) process.loadEnvFile('.env');

  // Check the settings before installing anything, because the server could not start with invalid ones.
  if (command.startsServer) {
    if (process.env.BAKEHOUSE_PORT) readPort('BAKEHOUSE_PORT', process.env.BAKEHOUSE_PORT);
    claimDataDir(toFolder(process.env.BAKEHOUSE_DATA_DIR || '.bakehouse'));
  }
  await ensureDependencies();
  const run = await command.load();
  return run({
    words,
    startedIn,
    check: values.check ?? false,
    models: values.models ?? false,
    services: values.services,
    user: values.user,
    everybody: values.everybody,
    title: values.title,
    remove: values.remove,
    list: values.list,
    scale: values.scale ?? false,
    soak: values.soak ?? false,
    fraction: readFraction(values.fraction ?? '1'),
  });
}

function readFraction(text: string): number {
  const fraction = Number(text);
  if (/^\d*\.?\d+$/.test(text) && fraction > 0 && fraction <= 1) return fraction;
  throw new PlainError(`--fraction takes a number above 0 and up to 1, not '${text}'.`);
}

function readPort(setting: string, text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text;
  throw new PlainError(`${setting} takes a number from 0 to 65535, not '${text}'.`);
}

function claimDataDir(dir: string): void {
  try {
    makeDataDir(dir);
  } catch (error) {
    throw new PlainError(error instanceof Error ? error.message : String(error));
  }
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      allowNegative: true,
      options: {
        port: { type: 'string' },
        'data-dir': { type: 'string' },
        services: { type: 'string' },
        prepare: { type: 'boolean' },
        check: { type: 'boolean' },
        models: { type: 'boolean' },
        user: { type: 'string' },
        everybody: { type: 'boolean' },
        title: { type: 'string' },
        remove: { type: 'boolean' },
        list: { type: 'boolean' },
        scale: { type: 'boolean' },
        soak: { type: 'boolean' },
        fraction: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [problem] = error.message.split('. ');
    throw new PlainError(`${problem}. './bakehouse --help' lists the options.`);
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof PlainError)) throw error;
  console.error(`bakehouse: ${error.message}`);
  process.exitCode = 1;
}
