import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FirstRead, useFirstAnswers } from '../../../lib/use-first-answers.ts';
import { Card } from '../../../ui/card.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { pricesQuery } from '../../credits/credit-queries.ts';
import { useMachine } from '../../machines/machine-queries.ts';
import { AgentSettings } from '../details/agent-settings.tsx';
import { useServingDevice } from '../serving-prices.ts';
import { chatModelsQuery } from './chat.ts';
import { Playground } from './playground.tsx';

/** Chat with a starter model, which everybody may use without a deployment; comes after what stands above it. */
export function StarterChatCard({ above }: { above: FirstRead }) {
  const device = useServingDevice();
  const models = useQuery(chatModelsQuery);
  const answered = useFirstAnswers(above, models, useMachine(), useQuery(pricesQuery));
  const starter = models.data?.data.find((model) => model.owned_by === 'bakehouse' && model.task === 'text');
  if (!starter || !answered) return null;
  return (
    <Card
      className="mt-6"
      title="Try the starter model"
      description={`${starter.id} answers without a deployment; you pay only for its tokens.`}
    >
      <div className="flex flex-col gap-5">
        <Playground conversationId={starter.id} modelName={starter.id} device={device} />
        <Disclosure title="Use from an agent">
          <p className="mb-3 text-[0.8125rem] text-muted">
            Put your key from the{' '}
            <Link to="/api-key" className="text-accent-text underline underline-offset-2">
              API-Key page
            </Link>{' '}
            into <code>BAKEHOUSE_API_KEY</code> first.
          </p>
          <AgentSettings modelName={starter.id} />
        </Disclosure>
      </div>
    </Card>
  );
}
