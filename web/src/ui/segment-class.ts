/** A segmented control. */
export const segmentsClass = 'flex w-fit gap-0.5 rounded-lg bg-hover p-0.5';

/** One segment. */
export const segmentClass =
  'h-7 rounded-md px-2.5 font-medium text-compact text-muted not-data-disabled:hover:text-ink data-disabled:cursor-not-allowed data-disabled:opacity-50 data-pressed:bg-surface data-pressed:text-ink data-pressed:shadow-card';
