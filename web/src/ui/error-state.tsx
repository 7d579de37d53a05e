import { RotateCcw, TriangleAlert } from 'lucide-react';
import { cx } from '../lib/cx.ts';
import { usePageTitle } from '../lib/page-title.ts';
import { Button } from './button.tsx';
import { errorMessage } from './notify.ts';

type Props = {
  title: string;
  /** A thrown value, or the message itself. */
  error: unknown;
  onRetry?: () => void;
  /** A retry is in progress. */
  retrying?: boolean;
  retryLabel?: string;
  /** Smaller padding, for small cards. */
  compact?: boolean;
  /** Replaces the whole page: the title becomes the page's h1 and document title. */
  wholePage?: boolean;
  className?: string;
};

/** An error message with the cause and a retry button. */
export function ErrorState({
  title,
  error,
  onRetry,
  retrying = false,
  retryLabel = 'Try again',
  compact = false,
  wholePage = false,
  className,
}: Props) {
  const Title = wholePage ? 'h1' : 'p';
  usePageTitle(wholePage ? title : undefined);
  return (
    <div
      role="alert"
      className={cx(
        'flex flex-col items-center px-6 text-center',
        compact ? 'py-4' : 'py-14',
        wholePage && 'min-h-[60dvh] justify-center',
        className,
      )}
    >
      <span className="mb-4 flex size-11 items-center justify-center rounded-xl bg-bad-soft text-bad">
        <TriangleAlert aria-hidden className="size-5" />
      </span>
      <Title className="font-semibold text-base outline-none">{title}</Title>
      <p className="mt-1.5 max-w-md text-balance break-words text-muted">
        {typeof error === 'string' ? error : errorMessage(error)}
      </p>
      {onRetry && (
        <Button className="mt-5" loading={retrying} onClick={onRetry}>
          <RotateCcw aria-hidden />
          {retryLabel}
        </Button>
      )}
    </div>
  );
}
