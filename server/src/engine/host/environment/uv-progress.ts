/** Progress parsed from uv's piped output: one line per start and end of a large download. */
export type UvProgress = {
  downloads: { name: string; bytes: number; done: boolean }[];
  installing: boolean;
};

export const uvAtStart: UvProgress = { downloads: [], installing: false };

const units: Record<string, number> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Returns the progress after one more line of uv's output. Lines without downloads change nothing. */
export function readUvLine(progress: UvProgress, line: string): UvProgress {
  const begun = /^\s*Downloading (\S+) \(([\d.]+)(B|KiB|MiB|GiB)\)/.exec(line);
  if (begun) {
    const [, name = '', amount = '0', unit = 'B'] = begun;
    const bytes = Number(amount) * (units[unit] ?? 1);
    return { ...progress, downloads: [...progress.downloads, { name, bytes, done: false }] };
  }
  const ended = /^\s*Downloaded (\S+)/.exec(line);
  if (ended) {
    const downloads = progress.downloads.map((each) =>
      each.name === ended[1] ? { ...each, done: true } : each,
    );
    return { ...progress, downloads };
  }
  return /^\s*Prepared \d+ package/.test(line) ? { ...progress, installing: true } : progress;
}

/** User-facing progress, such as 'Downloading torch and 3 more (1.2 of 2.9 GB done)'. */
export function describeUv({ downloads, installing }: UvProgress): string {
  if (installing) return 'Installing the downloaded packages';
  const open = downloads.filter(({ done }) => !done).sort((a, b) => b.bytes - a.bytes);
  const [largest] = open;
  if (!largest) return 'Looking up the packages';
  const gb = (bytes: number) => (bytes / 1e9).toFixed(1);
  const others = open.length > 1 ? ` and ${open.length - 1} more` : '';
  return `Downloading ${largest.name}${others} (${gb(doneBytes(downloads))} of ${gb(allBytes(downloads))} GB done)`;
}

/**
 * Estimates the progress from 0 to 1; 1 is never reached before uv has ended. Uses the larger of two
 * estimates: finished downloads, and disk growth. uv reports a download only when it ends, so during large
 * downloads only the disk shows progress.
 */
export function estimateUv({ downloads }: UvProgress, diskFilledBytes: number, neededBytes: number): number {
  const byDownloads = downloads.length > 0 ? doneBytes(downloads) / allBytes(downloads) : 0;
  const byDisk = Math.max(0, diskFilledBytes) / neededBytes;
  return Math.min(0.99, Math.max(byDownloads, byDisk));
}

function doneBytes(downloads: UvProgress['downloads']): number {
  return downloads.reduce((sum, { bytes, done }) => sum + (done ? bytes : 0), 0);
}

function allBytes(downloads: UvProgress['downloads']): number {
  return downloads.reduce((sum, { bytes }) => sum + bytes, 0);
}
