import type { CSSProperties, ReactNode } from 'react';
import { cx } from '../../../lib/cx.ts';

/** Pictures up to this width are hardly enlarged. */
export const SMALL_PX_MAX = 256;

/** The frame of a picture. A small one is no wider than 320 px. */
export function Frame({ small = false, children }: { small?: boolean; children: ReactNode }) {
  return (
    <div className={cx('overflow-hidden rounded-xl bg-subtle shadow-card', small && 'max-w-80')}>
      {children}
    </div>
  );
}

const HEIGHT_MAX_REM = 32;

/** Returns the largest size of a picture with this width-to-height ratio inside its frame. */
export function fitted(ratio: number): CSSProperties {
  return { aspectRatio: ratio, width: `min(100%, ${HEIGHT_MAX_REM * ratio}rem)`, marginInline: 'auto' };
}
