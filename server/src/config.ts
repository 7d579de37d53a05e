import * as z from 'zod';
import { localUrl } from './platform/http/local-url.ts';
import { toFolder } from './platform/make-data-dir.ts';

const flag = z.stringbool();
const folder = z.string().transform(toFolder);

/**
 * Every setting of the server, read from the environment once at start. `.env.example` lists
 * them all; a test keeps the two equal. Nothing else reads a setting: what `process.env` is read
 * for elsewhere is to pass it on to child processes.
 */
const settings = z.object({
  BAKEHOUSE_PORT: z.coerce.number().int().min(0).max(65535).default(4080),
  BAKEHOUSE_HOST: z.string().default('127.0.0.1'),
  /** Origin that people use; by default the address above. */
  BAKEHOUSE_PUBLIC_URL: z.url().optional(),
  /** Reverse proxies whose X-Forwarded-For is believed: addresses, networks, or `loopback`; comma-separated. */
  BAKEHOUSE_TRUSTED_PROXIES: z.string().default('loopback'),
  BAKEHOUSE_DATA_DIR: folder.prefault('.bakehouse'),
  BAKEHOUSE_CACHE_DIR: folder.prefault('~/.cache/bakehouse'),
  /** A PostgreSQL 18 server; without it an embedded one runs in the data folder. */
  DATABASE_URL: z.string().optional(),
  /** Connections to the database that this process opens at most. */
  BAKEHOUSE_DATABASE_CONNECTIONS: z.coerce.number().int().min(2).default(10),
  /** Signs sessions and encrypts the keys that the web app shows; made and kept in the data folder if absent. */
  BAKEHOUSE_SECRET: z.string().min(32).optional(),
  /** Comma-separated email addresses of the operators. */
  BAKEHOUSE_OPERATORS: z.string().default(''),
  /** BGL that a new account starts with. */
  BAKEHOUSE_STARTING_GRANT_BGL: z
    .string()
    .regex(/^\d+(\.\d{1,6})?$/)
    .default('125'),
  /** Days after which what is left of them expires; 0 never. */
  BAKEHOUSE_STARTING_GRANT_DAYS: z.coerce.number().int().min(0).max(36_500).default(0),
  BAKEHOUSE_SIGN_UP: flag.default(true),
  BAKEHOUSE_GITHUB_CLIENT_ID: z.string().optional(),
  BAKEHOUSE_GITHUB_CLIENT_SECRET: z.string().optional(),
  BAKEHOUSE_GOOGLE_CLIENT_ID: z.string().optional(),
  BAKEHOUSE_GOOGLE_CLIENT_SECRET: z.string().optional(),
  /** Requests per minute and user, or address where nobody is signed in; 0 switches the limits off. */
  BAKEHOUSE_RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(0).default(1200),
  /** What Prometheus sends as a bearer token to read `/metrics`; without it they are for this machine alone. */
  BAKEHOUSE_METRICS_TOKEN: z.string().min(16).optional(),
  /** Minutes without a request after which a served model goes to sleep; 0 never. */
  BAKEHOUSE_IDLE_MINUTES: z.coerce.number().min(0).default(60),
  /** Runs that may use the CPU at once, on machines with GPUs too. */
  BAKEHOUSE_CPU_SLOTS: z.coerce.number().int().min(1).default(1),
  /** Gigabytes that inputs of earlier workloads may take in the cache folder. */
  BAKEHOUSE_INPUT_CACHE_GB: z.coerce.number().min(0).default(50),
  /** Gigabytes that the datasets and models of one user may take; 0 for no limit. */
  BAKEHOUSE_STORAGE_GB: z.coerce.number().min(0).default(50),
  BAKEHOUSE_DRIVER: z.enum(['local', 'fake']).default('local'),
  /** Whether this server prepares the Python environment and the starter models. */
  BAKEHOUSE_PREPARE: flag.default(true),
  /** Another package index for PyTorch, e.g. of the small CPU build. */
  BAKEHOUSE_TORCH_INDEX: z.string().optional(),
  BAKEHOUSE_PYTHON: z.string().default('python3'),
  BAKEHOUSE_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  /** `json` for machines, one object per line; `text` for people, which is what `./bakehouse up` sets. */
  BAKEHOUSE_LOG_FORMAT: z.enum(['json', 'text']).default('json'),
});

export const settingNames = Object.keys(settings.shape);

export type Config = ReturnType<typeof readConfig>;

/** Parses the environment. Throws an error that names each bad setting and says what it must be. */
export function readConfig(environment: Record<string, string | undefined>) {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = settings.safeParse(present);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`These settings are not usable:\n${lines.join('\n')}`);
  }
  const s = parsed.data;
  return {
    port: s.BAKEHOUSE_PORT,
    host: s.BAKEHOUSE_HOST,
    publicUrl: s.BAKEHOUSE_PUBLIC_URL ?? localUrl({ host: s.BAKEHOUSE_HOST, port: s.BAKEHOUSE_PORT }),
    trustedProxies: s.BAKEHOUSE_TRUSTED_PROXIES,
    dataDir: s.BAKEHOUSE_DATA_DIR,
    cacheDir: s.BAKEHOUSE_CACHE_DIR,
    databaseUrl: s.DATABASE_URL,
    databaseConnections: s.BAKEHOUSE_DATABASE_CONNECTIONS,
    secret: s.BAKEHOUSE_SECRET,
    operators: s.BAKEHOUSE_OPERATORS.split(',')
      .map((email) => email.trim().toLowerCase())
      .filter(Boolean),
    startingGrantBgl: s.BAKEHOUSE_STARTING_GRANT_BGL,
    startingGrantDays: s.BAKEHOUSE_STARTING_GRANT_DAYS,
    signUp: s.BAKEHOUSE_SIGN_UP,
    github: pair(s, 'BAKEHOUSE_GITHUB_CLIENT_ID', 'BAKEHOUSE_GITHUB_CLIENT_SECRET'),
    google: pair(s, 'BAKEHOUSE_GOOGLE_CLIENT_ID', 'BAKEHOUSE_GOOGLE_CLIENT_SECRET'),
    rateLimitPerMinute: s.BAKEHOUSE_RATE_LIMIT_PER_MINUTE,
    metricsToken: s.BAKEHOUSE_METRICS_TOKEN ?? null,
    idleMinutes: s.BAKEHOUSE_IDLE_MINUTES,
    cpuSlots: s.BAKEHOUSE_CPU_SLOTS,
    inputCacheGb: s.BAKEHOUSE_INPUT_CACHE_GB,
    storageGb: s.BAKEHOUSE_STORAGE_GB,
    driver: s.BAKEHOUSE_DRIVER,
    prepare: s.BAKEHOUSE_PREPARE,
    torchIndex: s.BAKEHOUSE_TORCH_INDEX,
    python: s.BAKEHOUSE_PYTHON,
    logLevel: s.BAKEHOUSE_LOG_LEVEL,
    logFormat: s.BAKEHOUSE_LOG_FORMAT,
  };
}

type Settings = z.output<typeof settings>;
type TextSetting = {
  [K in keyof Settings]-?: Settings[K] extends string | undefined ? K : never;
}[keyof Settings];

function pair(s: Settings, idName: TextSetting, secretName: TextSetting) {
  const [clientId, clientSecret] = [s[idName], s[secretName]];
  if (clientId && clientSecret) return { clientId, clientSecret };
  if (clientId || clientSecret) {
    throw new Error(
      `These settings are not usable:\n  ${clientId ? secretName : idName}: is missing beside ${clientId ? idName : secretName}`,
    );
  }
  return null;
}
