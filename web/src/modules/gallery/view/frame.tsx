import type { CSSProperties, ReactNode } from 'react';

export function Frame({ children }: { children: ReactNode }) {
  return <div className="overflow-hidden rounded-xl bg-subtle shadow-card">{children}</div>;
}

const HEIGHT_MAX_REM = 32;

/** Returns the largest size of a picture with this width-to-height ratio inside its frame. */
export function fitted(ratio: number): CSSProperties {
  return { aspectRatio: ratio, width: `min(100%, ${HEIGHT_MAX_REM * ratio}rem)`, marginInline: 'auto' };
}
