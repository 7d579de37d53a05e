/** Number of objects of each kind. */
export type Sizes = {
  users: number;
  assets: number;
  /** All files are in one dataset. */
  files: number;
  transfers: number;
  /** Each usage window adds one transfer. */
  usageWindows: number;
  deployments: number;
  waitingRuns: number;
};

const full: Sizes = {
  users: 1000,
  assets: 1_000_000,
  files: 100_000,
  transfers: 10_000_000,
  usageWindows: 50_000,
  deployments: 200,
  waitingRuns: 1000,
};

/** Minimum: fills a page of every list, so that each page has as many objects as in a large installation. */
const PAGE = 50;

/** Returns the sizes multiplied by `fraction`, but at least one page of each kind. */
export function sizesOf(fraction: number): Sizes {
  const part = (count: number) => Math.max(PAGE, Math.round(count * fraction));
  return {
    users: part(full.users),
    assets: part(full.assets),
    files: part(full.files),
    transfers: part(full.transfers),
    usageWindows: part(full.usageWindows),
    deployments: part(full.deployments),
    waitingRuns: part(full.waitingRuns),
  };
}
