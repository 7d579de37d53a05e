import type { Generation } from '@bakehouse/contract/generations';
import { Ban, CircleAlert, ImageIcon } from 'lucide-react';
import { cx } from '../../../lib/cx.ts';
import { Media } from './media.tsx';

const iconClass = 'absolute inset-0 m-auto size-5 text-faint';

/** The picture, its preview, or an icon if there is none. Fills its container, which names it. */
export function Thumbnail({ generation: { outputs, preview, state } }: { generation: Generation }) {
  const [output] = outputs;
  const media = output ?? (preview ? { url: preview } : undefined);
  if (media)
    return (
      <Media small media={media} alt="" className="size-full transition-opacity group-hover:opacity-90" />
    );
  if (state === 'failed') return <CircleAlert aria-hidden className={iconClass} />;
  if (state === 'cancelled') return <Ban aria-hidden className={iconClass} />;
  return <ImageIcon aria-hidden className={cx(iconClass, 'animate-[shimmer_1.6s_ease-in-out_infinite]')} />;
}
