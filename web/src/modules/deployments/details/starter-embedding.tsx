import { useQuery } from '@tanstack/react-query';
import { embeddingExamples } from '../../../lib/api/examples/embedding-examples.ts';
import { Card } from '../../../ui/card.tsx';
import { CodeTabs } from '../../../ui/code-block.tsx';
import { chatModelsQuery } from '../../chat/chat.ts';

/** How to call the shared embedding model, which needs no deployment. */
export function StarterEmbedding() {
  const { data } = useQuery(chatModelsQuery);
  const starter = data?.data.find(({ owned_by, task }) => owned_by === 'bakehouse' && task === 'embedding');
  if (!starter) return null;
  return (
    <div className="mb-5">
      <Card title="Use from code" description="Answers without a deployment; you pay for its tokens.">
        <CodeTabs examples={embeddingExamples(window.location.origin, starter.id)} />
      </Card>
    </div>
  );
}
