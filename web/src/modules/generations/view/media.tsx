import type { Generation } from '@bakehouse/contract/generations';
import { Ban, CircleAlert, ImageIcon } from 'lucide-react';
import type { ComponentProps, CSSProperties, ReactNode } from 'react';
import { cx } from '../../../lib/cx.ts';
import { SmallVideo, VideoPlayer } from './video.tsx';

const HEIGHT_MAX_REM = 32;
const iconClass = 'absolute inset-0 m-auto size-5 text-faint';

type Props = Omit<ComponentProps<'img'>, 'src' | 'width' | 'height'> & {
  /** An output, a source, or the preview of an output. */
  media: { url: string; thumbnail_url?: string; width?: number; height?: number; media_type?: string };
  /** Empty if the caption names it. */
  alt: string;
  /** A thumbnail that fills its container. */
  small?: boolean;
};

/** A picture or a video; large videos have a player. */
export function Media({ media, alt, small = false, className, ...look }: Props) {
  const { url, thumbnail_url, width, height } = media;
  if (isVideo(media)) {
    if (!small) return <VideoPlayer video={media} label={alt} className={className} />;
    return <SmallVideo video={media} className={cx('object-cover', className)} />;
  }
  if (small)
    return (
      <img
        {...look}
        src={thumbnail_url ?? url}
        alt={alt}
        loading="lazy"
        decoding="async"
        className={cx('object-cover', className)}
      />
    );
  return <img {...look} src={url} alt={alt} width={width} height={height} className={className} />;
}

/** Returns true for a video. */
export function isVideo({ media_type: type = '' }: { media_type?: string }): boolean {
  return type.startsWith('video/');
}

export function Frame({ children }: { children: ReactNode }) {
  return <div className="overflow-hidden rounded-xl bg-subtle shadow-card">{children}</div>;
}

/** Returns the largest size of a picture with this width-to-height ratio inside its frame. */
export function fitted(ratio: number): CSSProperties {
  return { aspectRatio: ratio, width: `min(100%, ${HEIGHT_MAX_REM * ratio}rem)`, marginInline: 'auto' };
}

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
