import { useQuery } from '@tanstack/react-query';
import { Card } from '../../ui/card.tsx';
import { chatModelsQuery } from './chat.ts';
import { Playground } from './playground.tsx';
import { useServingDevice } from './serving-prices.ts';

/** Chat with a starter model, which everybody may use without a deployment. */
export function StarterChatCard() {
  const device = useServingDevice();
  const models = useQuery(chatModelsQuery);
  const starter = models.data?.data.find((model) => model.owned_by === 'bakehouse');
  if (!starter) return null;
  return (
    <Card
      className="mt-6"
      title="Try the starter model"
      description={`${starter.id} answers without a deployment; you pay only for its tokens.`}
    >
      <Playground modelName={starter.id} device={device} />
    </Card>
  );
}
