import { acceptsPicture, editsPictures } from '@bakehouse/contract/generators/generator';
import { starterFor } from '@bakehouse/contract/generators/stand-in';
import { useGeneratorPage } from './generator-context.ts';

/** The provider, and whether the prompt leaves this server. */
export function GeneratedBy() {
  const { name, draft, serving } = useGeneratorPage();
  const { upstream, form, isStarter } = serving;
  const how = editsPictures(form) ? 'Edited' : 'Generated';
  const withPicture = editsPictures(form) || (acceptsPicture(form) && draft.source !== null);
  return (
    <p className="text-balance text-center text-compact text-muted">
      {upstream ? (
        <>
          {`${how} by ${upstream.title}. Your prompt ${withPicture ? 'and your picture are' : 'is'} sent to ${upstream.title}. Once it starts, it cannot be cancelled.`}{' '}
          <span className="break-all font-mono text-xs">{upstream.model}</span>
        </>
      ) : (
        <>
          {isStarter && (
            <span className="block font-medium text-ink">
              Starter model, {starterFor(name).starter.limits}
            </span>
          )}
          Runs on this server; nothing is sent elsewhere.
        </>
      )}
    </p>
  );
}
