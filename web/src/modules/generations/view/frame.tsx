import type { CSSProperties, ReactNode } from 'react';

/** What a picture is shown in. */
export function Frame({ children }: { children: ReactNode }) {
  return <div className="overflow-hidden rounded-xl bg-subtle shadow-card">{children}</div>;
}

const HEIGHT_MAX_REM = 32;

/** As large as a picture of this ratio of width to height can be in its frame. */
export function fitted(ratio: number): CSSProperties {
  return { aspectRatio: ratio, width: `min(100%, ${HEIGHT_MAX_REM * ratio}rem)`, marginInline: 'auto' };
}
