import { generators } from '@bakehouse/contract/generators/table';
import { Callout } from '../../ui/callout.tsx';
import { isServed } from './form/waits-for.ts';
import { ConnectLink } from './generate-bar.tsx';
import { useGeneratorPage } from './generator-context.ts';

/** Above a page of videos that nobody makes here: before anything is typed, and with the way to change that. */
export function NobodyServes() {
  const { name, ownOnly, serving } = useGeneratorPage();
  const { title, makes } = generators[name];
  const isKnown = serving.served.data !== undefined;
  if (makes !== 'video' || !isKnown || isServed(serving.by, ownOnly)) return null;
  return (
    <Callout tone="warn" title={`Nobody makes ${title} videos on this server yet`} className="mb-6">
      {serving.isBeingPrepared
        ? 'Its starter model is still being prepared.'
        : 'An operator connects a service with its key, or somebody deploys a Wan model.'}
      {!serving.isBeingPrepared && <ConnectLink />}
    </Callout>
  );
}
