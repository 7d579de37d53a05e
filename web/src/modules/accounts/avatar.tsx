import type { User } from '@bakehouse/contract/accounts';
import { cx } from '../../lib/cx.ts';

/**
 * Returns the user's picture, or null. External pictures, such as GitHub's, are not fetched, because that
 * would reveal page views to their server.
 */
export function pictureOf({ image_url }: Pick<User, 'image_url'>): string | null {
  return image_url?.startsWith('data:') ? image_url : null;
}

/** The user's picture, or two letters of the username. */
export function Avatar({
  user,
  className,
}: {
  user: Pick<User, 'username' | 'image_url'>;
  className?: string;
}) {
  const shape = 'size-9 shrink-0 rounded-full text-compact';
  const picture = pictureOf(user);
  if (picture !== null) {
    return <img src={picture} alt="" className={cx(shape, 'object-cover', className)} />;
  }
  return (
    <span
      aria-hidden
      className={cx(
        shape,
        'flex items-center justify-center bg-accent-soft font-semibold text-accent-text',
        className,
      )}
    >
      {user.username.slice(0, 2).toUpperCase()}
    </span>
  );
}
