import { useQuery } from '@tanstack/react-query';
import { KeyRound, Link2 } from 'lucide-react';
import { useState } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { ListSkeleton } from '../../../ui/list-skeleton.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { providerNames } from '../sign-in/provider-names.ts';
import { signInMethodsQuery } from '../sign-in/sign-in-calls.ts';
import { linkProvider, ownSignInMethodsQuery, type SignInMethod, unlinkMethod } from './profile-calls.ts';

const names = new Map(Object.entries({ credential: 'Password', ...providerNames }));
const nameOf = (providerId: string) => names.get(providerId) ?? providerId;

/** The user's sign-in methods; the last one cannot be removed. */
export function SignInMethodsCard() {
  const own = useQuery(ownSignInMethodsQuery);
  const { data: offered } = useQuery(signInMethodsQuery);
  const providers = (offered?.methods ?? []).filter((method) => method !== 'password');
  const linkable = providers.filter((name) => !own.data?.some(({ providerId }) => providerId === name));
  return (
    <Card title="Sign-in methods" flush>
      <QueryView
        query={own}
        failed="Your sign-in methods could not be loaded"
        pending={<ListSkeleton rows={1} rowHeight={72} />}
        flush
        compact
      >
        {(methods) => (
          <ul className="divide-y divide-line border-line border-t">
            {methods.map((method) => (
              <MethodRow key={method.id} method={method} isLast={methods.length === 1} />
            ))}
            {linkable.map((provider) => (
              <LinkRow key={provider} provider={provider} />
            ))}
          </ul>
        )}
      </QueryView>
    </Card>
  );
}

function MethodRow({ method, isLast }: { method: SignInMethod; isLast: boolean }) {
  const [asking, setAsking] = useState(false);
  const name = nameOf(method.providerId);
  const unlink = useMutation({
    mutationFn: async () => {
      await unlinkMethod(method.id);
      await queryClient.invalidateQueries({ queryKey: ownSignInMethodsQuery.queryKey });
    },
    onSuccess: () => setAsking(false),
    meta: { title: `${name} could not be removed` },
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3.5">
      <KeyRound aria-hidden className="size-5 shrink-0 text-faint" />
      <div className="min-w-0 flex-1 basis-40">
        <p className="font-medium">{name}</p>
        <p className="text-compact text-muted">Since {formatDateTime(new Date(method.createdAt))}</p>
      </div>
      {!isLast && (
        <Button size="sm" aria-label={`Remove ${name}`} onClick={() => setAsking(true)}>
          Remove
        </Button>
      )}
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={`Remove ${name}?`}
        description={`You will no longer be able to sign in with ${name === 'Password' ? 'your password' : name}. Other ways to sign in stay.`}
        action="Remove"
        pending={unlink.isPending}
        onConfirm={() => unlink.mutate()}
      />
    </li>
  );
}

function LinkRow({ provider }: { provider: 'github' | 'google' }) {
  const link = useMutation({
    mutationFn: () => linkProvider(provider),
    meta: { title: `${providerNames[provider]} could not be linked` },
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3.5">
      <Link2 aria-hidden className="size-5 shrink-0 text-faint" />
      <div className="min-w-0 flex-1 basis-40">
        <p className="font-medium">{providerNames[provider]}</p>
        <p className="text-compact text-muted">Not linked. Its email address must match this account's.</p>
      </div>
      <Button size="sm" loading={link.isPending} onClick={() => link.mutate()}>
        Link
      </Button>
    </li>
  );
}
