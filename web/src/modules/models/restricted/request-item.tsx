import type { AccessRequest } from '@bakehouse/contract/restricted-models';
import { Link } from '@tanstack/react-router';
import { Button } from '../../../ui/button.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { AccessBadge } from './access-badge.tsx';
import { useDecideAccess } from './restricted-model-calls.ts';

/** An access request, which an operator can grant or refuse; the decision can be changed. */
export function RequestItem({ request }: { request: AccessRequest }) {
  return (
    <div className="flex flex-wrap items-start gap-x-6 gap-y-3 px-5 py-4">
      <div className="min-w-0 flex-1 basis-80">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium">{request.username}</span>
          <span className="text-muted">requests access to</span>
          <Link
            to="/model/source/$id/description"
            params={{ id: request.model_id }}
            className="font-medium underline decoration-line-strong underline-offset-2 hover:decoration-current"
          >
            {request.model_name}
          </Link>
          {request.state !== 'requested' && <AccessBadge access={request.state} />}
        </p>
        <p className="text-muted text-xs">
          {request.email} · <RelativeTime at={request.requested_at} />
        </p>
        <p dir="auto" className="mt-2 max-w-prose whitespace-pre-wrap break-words">
          {request.message}
        </p>
      </div>
      <Decision request={request} />
    </div>
  );
}

function Decision({ request }: { request: AccessRequest }) {
  const decide = useDecideAccess();
  const { state, username, model_name } = request;
  const button = (decision: 'granted' | 'refused', label: string) => (
    <Button
      size="sm"
      variant={decision === 'granted' ? 'primary' : 'secondary'}
      loading={decide.isPending && decide.variables.decision === decision}
      disabled={decide.isPending}
      onClick={() => decide.mutate({ request, decision })}
    >
      {label}
      <span className="sr-only">
        : {username}, {model_name}
      </span>
    </Button>
  );
  return (
    <div className="flex gap-2">
      {state !== 'refused' && button('refused', state === 'granted' ? 'Revoke' : 'Refuse')}
      {state !== 'granted' && button('granted', 'Grant')}
    </div>
  );
}
