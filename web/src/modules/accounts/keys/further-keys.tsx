import type { ApiKey } from '@bakehouse/contract/api-keys';
import { parseBgl } from '@bakehouse/contract/money';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { useNow } from '../../../lib/use-now.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Money } from '../../../ui/money.tsx';
import { notify } from '../../../ui/notify.ts';
import { Progress } from '../../../ui/progress.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { ListSkeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../session.ts';
import { useApiKeys, useChangeApiKey, useCreateApiKey, useRevokeApiKey } from './key-calls.ts';
import { KeyDialog } from './key-dialog.tsx';
import { scopeChoice, scopeChoices } from './key-form.ts';

const TICK_MS = 30_000;
const periods = { day: 'today', month: 'this month', total: 'in total' } as const;

/** Creates, changes and revokes the keys other than the web app's own. */
export function FurtherKeysCard() {
  const user = useUser();
  const list = useApiKeys(user.id);
  const [creating, setCreating] = useState(false);
  const [changing, setChanging] = useState<ApiKey | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const keys = list.data?.api_keys.filter((key) => !key.for_web_app);
  const create = (
    <Button onClick={() => setCreating(true)}>
      <Plus aria-hidden />
      Create key
    </Button>
  );
  return (
    <Card
      title="Keys for your programs"
      description="Give each program its own key, with the rights and budget it needs."
      actions={keys && keys.length > 0 && create}
      flush
    >
      <QueryView
        query={{ ...list, data: keys }}
        failed="Your API keys could not be loaded"
        pending={<ListSkeleton rows={3} rowHeight={72} />}
        isEmpty={(rows) => rows.length === 0}
        empty={
          <EmptyState
            icon={<KeyRound aria-hidden />}
            title="You have no other API keys yet"
            action={create}
          />
        }
        flush
        compact
      >
        {(rows) => (
          <ul className="divide-y divide-line border-line border-t">
            {rows.map((key) => (
              <KeyRow
                key={key.id}
                apiKey={key}
                onChange={() => setChanging(key)}
                onRevoke={() => setRevoking(key)}
              />
            ))}
          </ul>
        )}
      </QueryView>
      <CreateKey userId={user.id} open={creating} onClose={() => setCreating(false)} />
      {changing && <ChangeKey apiKey={changing} onClose={() => setChanging(null)} />}
      {revoking && <RevokeKey apiKey={revoking} onClose={() => setRevoking(null)} />}
    </Card>
  );
}

function CreateKey({ userId, open, onClose }: { userId: string; open: boolean; onClose: () => void }) {
  const create = useCreateApiKey(userId);
  return (
    <>
      {open && (
        <KeyDialog
          apiKey={null}
          pending={create.isPending}
          onClose={onClose}
          onSubmit={({ name = '', ...settings }) =>
            create.mutate({ name, ...settings }, { onSuccess: onClose })
          }
        />
      )}
      <SecretDialog secret={create.data?.secret ?? null} onClose={create.reset} />
    </>
  );
}

function ChangeKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const change = useChangeApiKey();
  return (
    <KeyDialog
      apiKey={apiKey}
      pending={change.isPending}
      onClose={onClose}
      onSubmit={(changes) =>
        change.mutate(
          { keyId: apiKey.id, changes },
          {
            onSuccess: ({ name }) => {
              onClose();
              notify.success(`${name} was changed`);
            },
          },
        )
      }
    />
  );
}

function RevokeKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const revoke = useRevokeApiKey();
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Revoke ${apiKey.name}?`}
      description="Programs that use this key lose access immediately, and active streams and uploads are cut off. Runs and deployments it started continue. This cannot be undone."
      action="Revoke"
      pending={revoke.isPending}
      onConfirm={() =>
        revoke.mutate(apiKey.id, {
          onSuccess: () => notify.success(`${apiKey.name} was revoked`),
          onSettled: onClose,
        })
      }
    />
  );
}

type Props = { apiKey: ApiKey; onChange: () => void; onRevoke: () => void };

/** A further API key: scope, spending and expiry. */
function KeyRow({ apiKey, onChange, onRevoke }: Props) {
  const now = useNow(TICK_MS);
  const { name, scopes, expires_at, last_used_at, created_at, budget } = apiKey;
  const hasExpired = expires_at !== null && new Date(expires_at) <= now;
  const scope = scopeChoices.find(({ value }) => value === scopeChoice(scopes));
  const isUsedUp = budget !== null && promisedMicro(budget) >= parseBgl(budget.amount);
  const end = expires_at && `${hasExpired ? 'Expired' : 'Expires'} ${formatDateTime(new Date(expires_at))}`;
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-3 px-5 py-3.5">
      <div className="min-w-0 flex-1 basis-64">
        <p className="flex flex-wrap items-center gap-2 font-medium [overflow-wrap:anywhere]">
          {name}
          <Badge>{scope?.label}</Badge>
          {hasExpired && <Badge tone="bad">Expired</Badge>}
          {isUsedUp && <Badge tone="warn">Budget used up</Badge>}
        </p>
        <p className="text-[0.8125rem] text-muted tabular-nums">
          {last_used_at ? (
            <>
              Last used <RelativeTime at={last_used_at} inSentence />
            </>
          ) : (
            'Never used'
          )}
          {` · Created ${formatDateTime(new Date(created_at))}`}
          {` · ${end ?? 'Does not expire'}`}
        </p>
      </div>
      <div className="min-w-0 basis-56 text-[0.8125rem] text-muted max-sm:basis-full">
        {budget ? <Budget budget={budget} /> : 'No budget'}
      </div>
      <div className="flex gap-2">
        <Button size="sm" aria-label={`Change ${name}`} onClick={onChange}>
          Change
        </Button>
        <Button size="sm" aria-label={`Revoke ${name}`} onClick={onRevoke}>
          Revoke
        </Button>
      </div>
    </li>
  );
}

type KeyBudget = NonNullable<ApiKey['budget']>;

/** Returns the sum of spent and held credit. */
function promisedMicro({ spent, held }: KeyBudget): bigint {
  return parseBgl(spent) + parseBgl(held);
}

function Budget({ budget }: { budget: KeyBudget }) {
  const { amount, period, spent, held, renews_at } = budget;
  return (
    <>
      <Progress
        hideLabel
        label={`Budget ${periods[period]}`}
        value={Math.min(100, Number((promisedMicro(budget) * 100n) / parseBgl(amount)))}
        className="mb-1.5"
      />
      <p>
        <Money bgl={spent} className="font-medium text-ink" /> of <Money bgl={amount} /> spent{' '}
        {periods[period]}
      </p>
      {parseBgl(held) > 0n && (
        <p>
          <Money bgl={held} /> held for running work
        </p>
      )}
      {renews_at && <p>Renews {formatDateTime(new Date(renews_at))}</p>}
    </>
  );
}

type SecretDialogProps = {
  /** Null if closed. */
  secret: string | null;
  onClose: () => void;
};

/** Shows a new API key, once. */
function SecretDialog({ secret, onClose }: SecretDialogProps) {
  return (
    <Dialog
      open={secret !== null}
      keepOpen
      onOpenChange={(open) => !open && onClose()}
      title="Copy the new key now"
      description="It is shown only once. Anyone who has it can use it."
      footer={
        <>
          <CopyButton text={secret ?? ''} label="Copy" withText />
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <output
        aria-label="New API key"
        className="block break-all rounded-lg bg-subtle px-4 py-3 font-mono text-[0.8125rem] leading-6"
      >
        {secret}
      </output>
    </Dialog>
  );
}
