import { Compass } from 'lucide-react';
import { ApiError } from '../lib/api/api-error.ts';
import { usePageTitle } from '../lib/page-title.ts';
import { ButtonLink } from './button.tsx';

type Props = {
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
export function Missing({ title, text, to, label }: Props) {
  usePageTitle('Not found');
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
