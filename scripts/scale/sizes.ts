/** Amounts of each kind of object. */
export type Sizes = {
  users: number;
  assets: number;
  /** In one dataset. */
  files: number;
  transfers: number;
  /** Each is one more transfer. */
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

/** Fills a page of every list, so that a small installation returns as much as a large one. */
const PAGE = 50;

/** Returns the sizes scaled by `fraction`, but at least a page of everything. */
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
