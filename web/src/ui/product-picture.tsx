import { cx } from '../lib/cx.ts';
import { themeChoice } from '../lib/theme.ts';

/** Screenshots that `./bakehouse pictures` takes of the running product. */
export const productPictures = ['run', 'rows', 'chat', 'gallery', 'bill'] as const;

export type ProductPictureName = (typeof productPictures)[number];

type Props = {
  name: ProductPictureName;
  alt: string;
  /** Above the fold: loads eagerly. Others load lazily. */
  first?: boolean;
  className?: string;
};

/** A product screenshot in the page's theme. Its size is fixed before it loads. */
export function ProductPicture({ name, alt, first = false, className }: Props) {
  const theme = themeChoice.use();
  const file = (of: 'light' | 'dark') => `/pictures/${name}-${of}.webp`;
  return (
    <picture>
      {theme === 'system' && <source media="(prefers-color-scheme: dark)" srcSet={file('dark')} />}
      <img
        src={file(theme === 'dark' ? 'dark' : 'light')}
        alt={alt}
        width={1800}
        height={1125}
        loading={first ? 'eager' : 'lazy'}
        fetchPriority={first ? 'high' : 'auto'}
        decoding="async"
        className={cx('block h-auto w-full rounded-xl bg-subtle shadow-pop', className)}
      />
    </picture>
  );
}
