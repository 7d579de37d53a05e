import type { Generation } from '@bakehouse/contract/generations';
import { Ban, CircleAlert, ImageIcon } from 'lucide-react';
import { cx } from '../../../lib/cx.ts';

const iconClass = 'absolute inset-0 m-auto size-5 text-faint';

/** The picture as far as it is there, or a sign of why there is none. It fills what is around it, and is named there. */
export function Thumbnail({ generation: { outputs, preview, state } }: { generation: Generation }) {
  const [output] = outputs;
  const src = output?.thumbnail_url ?? preview;
  if (src) {
    return (
      <img
        src={src}
        alt=""
        loading="lazy"
        decoding="async"
        className="size-full object-cover transition-opacity group-hover:opacity-90"
      />
    );
  }
  if (state === 'failed') return <CircleAlert aria-hidden className={iconClass} />;
  if (state === 'cancelled') return <Ban aria-hidden className={iconClass} />;
  return <ImageIcon aria-hidden className={cx(iconClass, 'animate-[shimmer_1.6s_ease-in-out_infinite]')} />;
}
