import { ArrowLeftRight, Gift, UserCog } from 'lucide-react';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { useUser } from '../../accounts/session.ts';
import { NO_STARTING_CREDITS } from '../credit-queries.ts';

/** How to get credits on a server without a payment provider. */
export function CreditSources() {
  const user = useUser();
  return (
    <Card title="How to get credits" description="This server has no payment provider.">
      <ul className="grid gap-5 sm:grid-cols-3">
        <li>
          <Gift aria-hidden className="size-5 text-accent-text" />
          <h3 className="mt-2 font-medium">Starting credits</h3>
          <p className="mt-0.5 text-compact text-muted leading-5">
            {user.is_returning ? NO_STARTING_CREDITS : 'Every new account starts with some.'}
          </p>
        </li>
        <li>
          <UserCog aria-hidden className="size-5 text-accent-text" />
          <h3 className="mt-2 font-medium">A grant</h3>
          <p className="mt-0.5 text-compact text-muted leading-5">
            Ask the operator of this server, with your username.
          </p>
        </li>
        <li>
          <ArrowLeftRight aria-hidden className="size-5 text-accent-text" />
          <h3 className="mt-2 font-medium">A transfer</h3>
          <p className="mt-0.5 text-compact text-muted leading-5">
            Another user can send you credits by your username.
          </p>
        </li>
      </ul>
      <p className="mt-5 flex flex-wrap items-center gap-x-2 gap-y-1 rounded-lg bg-subtle px-3.5 py-2">
        <span className="text-muted max-sm:sr-only">Your username</span>
        <span className="font-medium">{user.username}</span>
        <CopyButton text={user.username} label="Copy the username" />
      </p>
    </Card>
  );
}
