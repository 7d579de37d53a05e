import * as z from 'zod';
import { clusterOf, clusterSettings, routingOf } from './platform/cluster-settings.ts';
import { parseSentryDsn } from './platform/error-reports/sentry-address.ts';
import { toFolder } from './platform/files/data-files.ts';
import { localUrl, namedUrls } from './platform/http/addresses/own-addresses.ts';
import { describeIssue } from './platform/http/validation/describe-issue.ts';
import { replicaOf, replicaSettings } from './platform/processes/processes.ts';
import {
  fileName,
  invalidSettings,
  listSecretFiles,
  readSecretFiles,
} from './platform/secrets/secret-files.ts';

const flag = z.stringbool();
const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean),
  );
const bgl = z.string().regex(/^\d+(\.\d{1,6})?$/, 'must be an amount such as 12.5, with at most 6 decimals');
/** A public URL must be an origin without a path, because links are built by appending a path. */
function toOrigin(text: string, context: z.core.$RefinementCtx): string {
  const { origin, pathname, search, hash } = new URL(text);
  if (pathname !== '/' || search !== '' || hash !== '')
    context.addIssue(`must be an address without a path, such as ${origin}, not '${text}'`);
  return origin;
}

/** Default base URL of each external service. */
const serviceUrls = {
  stripe: 'https://api.stripe.com',
  fal: 'https://queue.fal.run',
  replicate: 'https://api.replicate.com',
  bfl: 'https://api.bfl.ai',
  ark: 'https://ark.ap-southeast.bytepluses.com',
  google: 'https://generativelanguage.googleapis.com',
  x: 'https://api.x.com',
  huggingface: 'https://huggingface.co',
  wandb: 'https://api.wandb.ai',
};

/** Fixed values that only tests override. */
const limits = {
  /** Users are notified when their balance falls below this many BGL. */
  lowBalanceBgl: '25',
  /** Maximum number of invitation bonuses per inviting user. */
  referralsMax: 10,
};

const folder = z.string().transform(toFolder);

/**
 * Every setting of the server, read once from the environment at startup. `.env.example` lists all of them,
 * and a test compares the two. Other code reads `process.env` only to pass it to child processes.
 */
const settings = z.object({
  BAKEHOUSE_PORT: z.coerce.number().int().min(0).max(65535).default(4080),
  BAKEHOUSE_HOST: z.string().default('127.0.0.1'),
  /** Host under which other machines reach this machine's model servers and HTTP endpoints. */
  BAKEHOUSE_MACHINE_HOST: z.string().default('127.0.0.1'),
  /** Origin that users open in a browser. Defaults to the host and port above. */
  BAKEHOUSE_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .transform(toOrigin)
    .optional(),
  /** Reverse proxies whose X-Forwarded-For is trusted: addresses, networks or `loopback`, comma-separated. */
  BAKEHOUSE_TRUSTED_PROXIES: z.string().default('loopback'),
  BAKEHOUSE_DATA_DIR: folder.prefault('.bakehouse'),
  BAKEHOUSE_CACHE_DIR: folder.prefault('~/.cache/bakehouse'),
  /** URL of a PostgreSQL 18 server. Without it, an embedded server runs in the data folder. */
  DATABASE_URL: z.string().optional(),
  /** Maximum number of database connections of this process. */
  BAKEHOUSE_DATABASE_CONNECTIONS: z.coerce.number().int().min(2).default(10),
  /** Signs sessions and encrypts the keys shown in the web app. Generated in the data folder if not set. */
  BAKEHOUSE_SECRET: z.string().min(32).optional(),
  /** Email addresses of the operators, separated by commas. */
  BAKEHOUSE_OPERATORS: list.transform((emails) => emails.map((email) => email.toLowerCase())),
  /** BGL that a new account receives. */
  BAKEHOUSE_STARTING_GRANT_BGL: bgl.default('125'),
  /** Days after which unspent starting credits expire; 0 if they never expire. */
  BAKEHOUSE_STARTING_GRANT_DAYS: z.coerce.number().int().min(0).max(36_500).default(0),
  /** Target of the link "Documentation". Defaults to the pages under `/docs`. */
  BAKEHOUSE_DOCUMENTATION_URL: z.url().optional(),
  /** Target of "GitHub" in the user menu. Without it, the item is hidden. */
  BAKEHOUSE_GITHUB_URL: z.url().optional(),
  /** Whether playground conversations are stored in the user's account. */
  BAKEHOUSE_KEEP_CONVERSATIONS: flag.default(true),
  /** Days for which stored answers of `/v1/responses` are kept; 0 to store none. */
  BAKEHOUSE_RESPONSE_DAYS: z.coerce.number().int().min(0).max(365).default(30),
  /** BGL per day for all visitors without an account, also on the landing page; 0 to disable their access. */
  BAKEHOUSE_VISITOR_BUDGET_BGL: bgl.default('25'),
  /** BGL that a user may send to others within 24 hours; 0 for no limit. */
  BAKEHOUSE_SEND_LIMIT_BGL: bgl.default('0'),
  /** Whether users can send starting credits and bonuses to others. Credits that expire are never sent. */
  BAKEHOUSE_SEND_GIVEN_CREDITS: flag.default(true),
  /** BGL that both users receive for an invitation. */
  BAKEHOUSE_REFERRAL_BONUS_BGL: bgl.default('125'),
  /** Enables selling credits through Stripe: the secret key, and the signing secret of its webhook. */
  BAKEHOUSE_STRIPE_SECRET_KEY: z.string().optional(),
  BAKEHOUSE_STRIPE_WEBHOOK_SECRET: z.string().optional(),
  /** API keys of services that generate pictures and videos. */
  FAL_KEY: z.string().optional(),
  REPLICATE_API_TOKEN: z.string().optional(),
  BFL_API_KEY: z.string().optional(),
  ARK_API_KEY: z.string().optional(),
  GEMINI_API_KEY: z.string().optional(),
  /** Base URLs of services that replace the defaults, as `name=address`, separated by commas. */
  BAKEHOUSE_SERVICE_URLS: z.string().default('').transform(namedUrls(serviceUrls, 'fal')),
  BAKEHOUSE_SIGN_UP: flag.default(true),
  /** Number of password accounts that can be created per hour, in total and per address; 0 for no limit. */
  BAKEHOUSE_SIGN_UPS_PER_HOUR: z.coerce.number().int().min(0).default(500),
  BAKEHOUSE_SIGN_UPS_PER_ADDRESS: z.coerce.number().int().min(0).default(100),
  BAKEHOUSE_GITHUB_CLIENT_ID: z.string().optional(),
  BAKEHOUSE_GITHUB_CLIENT_SECRET: z.string().optional(),
  BAKEHOUSE_GOOGLE_CLIENT_ID: z.string().optional(),
  BAKEHOUSE_GOOGLE_CLIENT_SECRET: z.string().optional(),
  /** Enables connecting an X account and posting invitations: the client of an OAuth 2.0 application. */
  BAKEHOUSE_X_CLIENT_ID: z.string().optional(),
  BAKEHOUSE_X_CLIENT_SECRET: z.string().optional(),
  /** Server for outgoing mail. Without it no mail is sent, and messages are logged instead. */
  BAKEHOUSE_SMTP_HOST: z.string().optional(),
  BAKEHOUSE_SMTP_PORT: z.coerce.number().int().min(1).max(65535).default(587),
  /** `starttls` encrypts before any message, `tls` from the first byte (port 465), `none` not at all. */
  BAKEHOUSE_SMTP_TLS: z.enum(['starttls', 'tls', 'none']).default('starttls'),
  BAKEHOUSE_SMTP_USER: z.string().optional(),
  BAKEHOUSE_SMTP_PASSWORD: z.string().optional(),
  /** Sender of all mail: an address, or `Name <address>`. */
  BAKEHOUSE_SMTP_FROM: z.string().optional(),
  /** Requests per minute and user (per address without a user); 0 for no limit. */
  BAKEHOUSE_RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(0).default(1200),
  /** `false` disables all limits: calls, password guesses, sign-ups, mail. For tests. */
  BAKEHOUSE_RATE_LIMITS: flag.default(true),
  /** Bearer token with which Prometheus reads `/metrics`. Without it, only this machine can read it. */
  BAKEHOUSE_METRICS_TOKEN: z.string().min(16).optional(),
  /** Port for `/healthz`, `/readyz` and `/metrics` of a process without the web role. Defaults to none. */
  BAKEHOUSE_MONITORING_PORT: z.coerce.number().int().min(0).max(65535).optional(),
  /** DSN of Sentry or a compatible service, to which unexpected errors are reported. */
  BAKEHOUSE_SENTRY_DSN: z
    .string()
    .optional()
    .transform((dsn, context) => {
      const address = dsn === undefined ? null : parseSentryDsn(dsn);
      if (dsn !== undefined && address === null)
        context.addIssue('must be a DSN, such as https://key@sentry.example.com/4');
      return address;
    }),
  /** Minutes without a request after which a deployment is put to sleep; 0 to never do so. */
  BAKEHOUSE_IDLE_MINUTES: z.coerce.number().min(0).default(60),
  /** Maximum number of concurrent runs on the CPU, also on machines with GPUs. */
  BAKEHOUSE_CPU_SLOTS: z.coerce.number().int().min(1).default(1),
  /** Gigabytes of the cache folder that inputs of earlier workloads may use. */
  BAKEHOUSE_INPUT_CACHE_GB: z.coerce.number().min(0).default(50),
  /** Bucket that stores files instead of the data folder. Uses the credentials that the AWS SDK finds. */
  BAKEHOUSE_S3_BUCKET: z.string().min(3).optional(),
  /** Prefix of all keys in the bucket, such as `bakehouse/`. */
  BAKEHOUSE_S3_PREFIX: z
    .string()
    .regex(/^(|[^/].*\/)$/, 'must end with a slash and not begin with one')
    .default(''),
  /** Endpoint of a service other than AWS. Then path-style addresses are the default. */
  BAKEHOUSE_S3_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .transform(toOrigin)
    .optional(),
  BAKEHOUSE_S3_REGION: z.string().optional(),
  BAKEHOUSE_S3_PATH_STYLE: flag.optional(),
  /** Whether browsers and workloads can reach the bucket, to download by presigned links. */
  BAKEHOUSE_S3_LINKS: flag.default(false),
  /** Gigabytes of a machine's cache folder that copies of the bucket's files may use. */
  BAKEHOUSE_S3_CACHE_GB: z.coerce.number().min(0).default(10),
  ...replicaSettings,
  /** S3 addresses from which pictures may be downloaded, comma-separated, with everything below them. */
  BAKEHOUSE_S3_URLS: list.pipe(z.array(z.url({ protocol: /^https?$/ }))),
  /** Size limit in gigabytes for files uploaded in parts. Files in forms are limited to 500 MB. */
  BAKEHOUSE_FILE_GB: z.coerce.number().min(0.001).default(50),
  /** Gigabytes that the datasets and models of one user may use; 0 for no limit. */
  BAKEHOUSE_STORAGE_GB: z.coerce.number().min(0).default(50),
  /** Enables pinning datasets that use IPFS: the RPC URL of a Kubo node, and its token if it requires one. */
  BAKEHOUSE_IPFS_KUBO_URL: z.url({ protocol: /^https?$/ }).optional(),
  BAKEHOUSE_IPFS_KUBO_TOKEN: z.string().optional(),
  /** Service with the IPFS Pinning Service API, which fetches the data from that node. */
  BAKEHOUSE_IPFS_PINNING_URL: z.url({ protocol: /^https?$/ }).optional(),
  BAKEHOUSE_IPFS_PINNING_TOKEN: z.string().optional(),
  /** Private hosts that users may use as MLflow server, comma-separated. Public hosts are permitted. */
  BAKEHOUSE_TRACKING_HOSTS: list.transform((hosts) => hosts.map((host) => host.toLowerCase())),
  ...clusterSettings,
  BAKEHOUSE_DRIVER: z.enum(['local', 'fake']).default('local'),
  /** Whether this server prepares the Python environment and the starter models. */
  BAKEHOUSE_PREPARE: flag.default(true),
  /** Package index for PyTorch instead of PyPI, for example with the small CPU build. */
  BAKEHOUSE_TORCH_INDEX: z.string().optional(),
  BAKEHOUSE_PYTHON: z.string().default('python3'),
  BAKEHOUSE_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  /** `json` writes one object per line. `text` is for people, and what `./bakehouse up` sets. */
  BAKEHOUSE_LOG_FORMAT: z.enum(['json', 'text']).default('json'),
});

export const settingNames = Object.keys(settings.shape);

/** Settings that may be in a file, named by `<NAME>_FILE`, as Docker and Kubernetes provide secrets. */
const secretNames = settingNames.filter((name) => /^DATABASE_URL$|_(SECRET|KEY|TOKEN|PASSWORD)$/.test(name));

/** Settings that only the clients in this repository read. */
const CLIENTS_NAMES = ['BAKEHOUSE_API', 'BAKEHOUSE_API_KEY', 'BAKEHOUSE_CHROMIUM'];

/** Variables that Kubernetes sets in every container if there is a Service named bakehouse. */
const SERVICE_LINK = /^BAKEHOUSE_(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_.+)$/;

/** Settings of earlier versions, with their replacements. */
export const removedSettings: Record<string, string> = {
  ...Object.fromEntries(
    Object.keys(serviceUrls).map((name) => [
      `BAKEHOUSE_${name.toUpperCase()}_URL`,
      `set ${name}=<address> in BAKEHOUSE_SERVICE_URLS`,
    ]),
  ),
  BAKEHOUSE_LOW_BALANCE_BGL: `the value is always ${limits.lowBalanceBgl}`,
  BAKEHOUSE_REFERRALS_MAX: `the value is always ${limits.referralsMax}`,
  BAKEHOUSE_MACHINE_GONE_MINUTES: 'workloads always wait until the machine returns',
};

export type Config = ReturnType<typeof readConfig>;

/** Returns unknown names that look like settings, such as misspelled ones, so that they are reported. */
export function unknownSettings(environment: Record<string, string | undefined>): string[] {
  const known = new Set([...settingNames, ...secretNames.map(fileName), ...CLIENTS_NAMES]);
  return Object.keys(environment).filter(
    (name) => name.startsWith('BAKEHOUSE_') && !known.has(name) && !SERVICE_LINK.test(name),
  );
}

/** Reads the settings. Throws an error that lists each invalid setting and what it must be. */
export function readConfig(environment: Record<string, string | undefined>) {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  // A Service of Kubernetes sets a variable with the same name, which is not this setting.
  if (present.BAKEHOUSE_PORT?.startsWith('tcp://')) delete present.BAKEHOUSE_PORT;
  const secretFiles = listSecretFiles(secretNames, present);
  Object.assign(present, readSecretFiles(present, secretFiles));
  const parsed = settings.safeParse(present, { error: describeIssue });
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message, code }) => {
      const name = path.join('.');
      // Show the value, because a number is not a secret.
      return `${name}: ${message}${code === 'invalid_type' ? `, not '${present[name]}'` : ''}`;
    });
    throw invalidSettings(lines);
  }
  const s = parsed.data;
  const publicUrl = s.BAKEHOUSE_PUBLIC_URL ?? localUrl({ host: s.BAKEHOUSE_HOST, port: s.BAKEHOUSE_PORT });
  return {
    port: s.BAKEHOUSE_PORT,
    host: s.BAKEHOUSE_HOST,
    publicUrl,
    machineHost: s.BAKEHOUSE_MACHINE_HOST,
    trustedProxies: s.BAKEHOUSE_TRUSTED_PROXIES,
    dataDir: s.BAKEHOUSE_DATA_DIR,
    cacheDir: s.BAKEHOUSE_CACHE_DIR,
    databaseUrl: s.DATABASE_URL,
    databaseConnections: s.BAKEHOUSE_DATABASE_CONNECTIONS,
    secret: s.BAKEHOUSE_SECRET,
    /** Files that hold secrets. */
    secretFiles: secretFiles.map(({ file }) => file),
    operators: s.BAKEHOUSE_OPERATORS,
    startingGrantBgl: s.BAKEHOUSE_STARTING_GRANT_BGL,
    startingGrantDays: s.BAKEHOUSE_STARTING_GRANT_DAYS,
    documentationUrl: s.BAKEHOUSE_DOCUMENTATION_URL ?? null,
    githubUrl: s.BAKEHOUSE_GITHUB_URL ?? null,
    s3Urls: s.BAKEHOUSE_S3_URLS.map((url) => new URL(url)),
    ...limits,
    ...{ keepConversations: s.BAKEHOUSE_KEEP_CONVERSATIONS, responseDays: s.BAKEHOUSE_RESPONSE_DAYS },
    ...{ visitorBudgetBgl: s.BAKEHOUSE_VISITOR_BUDGET_BGL, sendLimitBgl: s.BAKEHOUSE_SEND_LIMIT_BGL },
    sendGivenCredits: s.BAKEHOUSE_SEND_GIVEN_CREDITS,
    referralBonusBgl: s.BAKEHOUSE_REFERRAL_BONUS_BGL,
    stripe: stripeOf(s),
    upstreams: upstreamsOf(s),
    hubUrl: s.BAKEHOUSE_SERVICE_URLS.huggingface,
    ...{ wandbUrl: s.BAKEHOUSE_SERVICE_URLS.wandb, trackingHosts: s.BAKEHOUSE_TRACKING_HOSTS },
    signUp: s.BAKEHOUSE_SIGN_UP,
    signUpsPerHour: s.BAKEHOUSE_SIGN_UPS_PER_HOUR,
    signUpsPerAddress: s.BAKEHOUSE_SIGN_UPS_PER_ADDRESS,
    github: clientOf(s, 'BAKEHOUSE_GITHUB_CLIENT_ID', 'BAKEHOUSE_GITHUB_CLIENT_SECRET'),
    google: clientOf(s, 'BAKEHOUSE_GOOGLE_CLIENT_ID', 'BAKEHOUSE_GOOGLE_CLIENT_SECRET'),
    x: xOf(s),
    mail: mailOf(s),
    rateLimitPerMinute: s.BAKEHOUSE_RATE_LIMIT_PER_MINUTE,
    rateLimits: s.BAKEHOUSE_RATE_LIMITS,
    metricsToken: s.BAKEHOUSE_METRICS_TOKEN ?? null,
    monitoringPort: s.BAKEHOUSE_MONITORING_PORT ?? null,
    sentry: s.BAKEHOUSE_SENTRY_DSN,
    idleMinutes: s.BAKEHOUSE_IDLE_MINUTES,
    cpuSlots: s.BAKEHOUSE_CPU_SLOTS,
    inputCacheGb: s.BAKEHOUSE_INPUT_CACHE_GB,
    fileGb: s.BAKEHOUSE_FILE_GB,
    storageGb: s.BAKEHOUSE_STORAGE_GB,
    ...{ ipfs: ipfsOf(s), s3: s3Of(s), cluster: clusterOf(s, publicUrl) },
    ...{ ...replicaOf(s), routing: routingOf(s) },
    ...{ driver: s.BAKEHOUSE_DRIVER, prepare: s.BAKEHOUSE_PREPARE },
    ...{ torchIndex: s.BAKEHOUSE_TORCH_INDEX, python: s.BAKEHOUSE_PYTHON },
    ...{ logLevel: s.BAKEHOUSE_LOG_LEVEL, logFormat: s.BAKEHOUSE_LOG_FORMAT },
  };
}

type Settings = z.output<typeof settings>;
type TextSetting = {
  [K in keyof Settings]-?: Settings[K] extends string | undefined ? K : never;
}[keyof Settings];

function clientOf(s: Settings, idName: TextSetting, secretName: TextSetting) {
  const [clientId, clientSecret] = pair(s, idName, secretName);
  return clientId && clientSecret ? { clientId, clientSecret } : null;
}

function xOf(s: Settings) {
  const client = clientOf(s, 'BAKEHOUSE_X_CLIENT_ID', 'BAKEHOUSE_X_CLIENT_SECRET');
  return client && { ...client, url: s.BAKEHOUSE_SERVICE_URLS.x };
}

function s3Of(s: Settings) {
  const { BAKEHOUSE_S3_BUCKET: bucket, BAKEHOUSE_S3_ENDPOINT: endpoint = null } = s;
  if (bucket === undefined) {
    const there = (['BAKEHOUSE_S3_ENDPOINT', 'BAKEHOUSE_S3_REGION', 'BAKEHOUSE_S3_PREFIX'] as const).find(
      (name) => s[name],
    );
    if (there) throw invalidSettings([`BAKEHOUSE_S3_BUCKET: is required with ${there}`]);
    return null;
  }
  return {
    ...{ bucket, endpoint, prefix: s.BAKEHOUSE_S3_PREFIX },
    // S3-compatible services mostly ignore the region.
    region: s.BAKEHOUSE_S3_REGION ?? (endpoint === null ? null : 'us-east-1'),
    pathStyle: s.BAKEHOUSE_S3_PATH_STYLE ?? endpoint !== null,
    ...{ links: s.BAKEHOUSE_S3_LINKS, cacheGb: s.BAKEHOUSE_S3_CACHE_GB },
  };
}

function ipfsOf(s: Settings) {
  const [url, token] = pair(s, 'BAKEHOUSE_IPFS_PINNING_URL', 'BAKEHOUSE_IPFS_PINNING_TOKEN');
  const { BAKEHOUSE_IPFS_KUBO_URL: kubo, BAKEHOUSE_IPFS_KUBO_TOKEN: kuboToken = null } = s;
  if (!kubo && (url || kuboToken)) {
    const there = url ? 'BAKEHOUSE_IPFS_PINNING_URL' : 'BAKEHOUSE_IPFS_KUBO_TOKEN';
    throw invalidSettings([`BAKEHOUSE_IPFS_KUBO_URL: is required with ${there}`]);
  }
  return kubo
    ? { kubo: { url: kubo, token: kuboToken }, pinning: url && token ? { url, token } : null }
    : null;
}

function mailOf(s: Settings) {
  const [host, from] = pair(s, 'BAKEHOUSE_SMTP_HOST', 'BAKEHOUSE_SMTP_FROM');
  const [user, password] = pair(s, 'BAKEHOUSE_SMTP_USER', 'BAKEHOUSE_SMTP_PASSWORD');
  if (!host || !from) return null;
  const login = user && password ? { user, password } : null;
  return { host, from, login, port: s.BAKEHOUSE_SMTP_PORT, tls: s.BAKEHOUSE_SMTP_TLS };
}

function stripeOf(s: Settings) {
  const [secretKey, webhookSecret] = pair(
    s,
    'BAKEHOUSE_STRIPE_SECRET_KEY',
    'BAKEHOUSE_STRIPE_WEBHOOK_SECRET',
  );
  return secretKey && webhookSecret
    ? { secretKey, webhookSecret, url: s.BAKEHOUSE_SERVICE_URLS.stripe }
    : null;
}

function upstreamsOf(s: Settings) {
  const access = (key: string | undefined, url: string) => (key === undefined ? null : { key, url });
  return {
    fal: access(s.FAL_KEY, s.BAKEHOUSE_SERVICE_URLS.fal),
    replicate: access(s.REPLICATE_API_TOKEN, s.BAKEHOUSE_SERVICE_URLS.replicate),
    blackForestLabs: access(s.BFL_API_KEY, s.BAKEHOUSE_SERVICE_URLS.bfl),
    byteplus: access(s.ARK_API_KEY, s.BAKEHOUSE_SERVICE_URLS.ark),
    google: access(s.GEMINI_API_KEY, s.BAKEHOUSE_SERVICE_URLS.google),
  };
}

/** Returns two settings that must be set together or not at all. */
function pair(s: Settings, one: TextSetting, other: TextSetting) {
  if (Boolean(s[one]) !== Boolean(s[other])) {
    const [missing, there] = s[one] ? [other, one] : [one, other];
    throw invalidSettings([`${missing}: is required with ${there}`]);
  }
  return [s[one], s[other]] as const;
}
