import { Compass, RotateCcw, TriangleAlert } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { ApiError } from '../lib/api/api-error.ts';
import { cx } from '../lib/cx.ts';
import { useOnline } from '../lib/live/online.ts';
import type { LoadError } from '../lib/loadable.tsx';
import { isOutdated } from '../lib/served-build.ts';
import { Button, ButtonLink } from './button.tsx';
import { Callout } from './callout.tsx';
import { errorMessage } from './notify.ts';

const opens = {
  page: 'The page opens',
  form: 'The form opens',
  'part of the page': 'This part appears',
};

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
  useEffect(() => {
    if (wholePage) document.title = `${title} · Bakehouse`;
  }, [wholePage, title]);
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

type MissingProps = {
  title: string;
  text: string;
  /** Link target. */
  to:
    | '/dashboard'
    | '/docs'
    | '/dataset'
    | '/drafts'
    | '/model'
    | '/llm-training'
    | '/my-deployments'
    | '/gallery';
  label: string;
};

/** A 'not found' page with a link onward. */
export function Missing({ title, text, to, label }: MissingProps) {
  useEffect(() => {
    document.title = 'Not found · Bakehouse';
  }, []);
  return (
    <div className="flex min-h-[60dvh] flex-col items-center justify-center text-center">
      <span className="mb-4 flex size-11 items-center justify-center rounded-xl bg-accent-soft text-accent-text">
        <Compass aria-hidden className="size-5" />
      </span>
      <h1 className="font-semibold text-xl tracking-tight outline-none">{title}</h1>
      <p className="mt-1.5 max-w-sm text-balance text-muted">{text}</p>
      <ButtonLink to={to} className="mt-6">
        {label}
      </ButtonLink>
    </div>
  );
}

/**
 * Returns true if the resource doesn't exist, including when the server rejects the path's id as malformed
 * (400).
 */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 404 || (error.status === 400 && isId(error.param));
}

/** Returns true for path ids: `id`, `runId`, `podId`. */
function isId(param: string | null): boolean {
  return param !== null && /^(id|\w+Id)$/.test(param);
}

type NotFetchedProps = {
  error: LoadError;
  onRetry: () => void;
  wholePage?: boolean;
  /** The part that failed to load. */
  part?: keyof typeof opens;
};

/**
 * Error for code that failed to load: the server is unreachable, has a newer build, or the cause is unknown.
 */
export function LoadFailure({ error, onRetry, wholePage = false, part = 'page' }: NotFetchedProps) {
  const online = useOnline();
  const outdated = useOutdated(online);
  const frame = { wholePage, compact: part === 'part of the page' };
  if (!online) {
    return (
      <ErrorState
        title={`This ${part} hasn’t loaded yet`}
        error={`The server cannot be reached. ${opens[part]} automatically when it is back.`}
        onRetry={onRetry}
        {...frame}
      />
    );
  }
  if (outdated) {
    return (
      <ErrorState
        title="Bakehouse was updated"
        error="Reload to get the new version."
        retryLabel="Reload"
        onRetry={() => location.reload()}
        {...frame}
      />
    );
  }
  // Some browsers cache a failed script until the page reloads.
  const stuck = error.failures > 1;
  return (
    <ErrorState
      title={`This ${part} could not be loaded`}
      error={error}
      retryLabel={stuck ? 'Reload' : 'Try again'}
      onRetry={stuck ? () => location.reload() : onRetry}
      {...frame}
    />
  );
}

/** Returns true if the server has a different build. Checks again on every reconnect. */
function useOutdated(online: boolean): boolean {
  const [outdated, setOutdated] = useState(false);
  useEffect(() => {
    if (!online) return;
    let gone = false;
    void isOutdated().then((answer) => gone || setOutdated(answer === true));
    return () => {
      gone = true;
    };
  }, [online]);
  return outdated;
}

/**
 * A rejected form's error, shown at the top. Scrolls into view because the submit button may be far below.
 */
export function FormRejection({ title, error }: { title?: ReactNode; error: unknown }) {
  return (
    <Callout tone="bad" title={title} ref={(callout) => callout?.scrollIntoView({ block: 'nearest' })}>
      {errorMessage(error)}
    </Callout>
  );
}
