import type { ComponentProps } from 'react';
import { cx } from '../../../lib/cx.ts';
import { SmallVideo, VideoPlayer } from './video.tsx';

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
