import type { ComponentProps } from 'react';
import { cx } from '../../../lib/cx.ts';

type Props = Omit<ComponentProps<'img'>, 'src' | 'width' | 'height'> & {
  /** An output, a source, or what is there of an output so far. */
  media: { url: string; thumbnail_url?: string; width?: number; height?: number };
  /** Empty where it is named beside it. */
  alt: string;
  /** A small copy, which fills what is around it. */
  small?: boolean;
};

/** What was generated, or is edited: a picture, until an output can be a film. */
export function Media({ media, alt, small = false, className, ...look }: Props) {
  const { url, thumbnail_url, width, height } = media;
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
