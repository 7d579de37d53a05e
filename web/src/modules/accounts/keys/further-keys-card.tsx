import type { ApiKey } from '@bakehouse/contract/api-keys';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ListSkeleton } from '../../../ui/list-skeleton.tsx';
import { notify } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { useUser } from '../session.ts';
import { useApiKeys, useChangeApiKey, useCreateApiKey, useRevokeApiKey } from './key-calls.ts';
import { KeyDialog } from './key-dialog.tsx';
import { KeyRow } from './key-row.tsx';
import { SecretDialog } from './secret-dialog.tsx';

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
