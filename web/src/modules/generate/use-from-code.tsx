import { editsPictures } from '@bakehouse/contract/generators/generator';
import { Link } from '@tanstack/react-router';
import { generationExamples } from '../../lib/api/examples/picture-examples.ts';
import { CodeTabs } from '../../ui/code-block.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { requestParameters } from './form/form-values.ts';
import { useGeneratorPage } from './generator-context.ts';

/** The form's request as code. */
export function UseFromCode() {
  const { name, draft, serving } = useGeneratorPage();
  const { prompt, values } = draft;
  const { form, named } = serving;
  const request = {
    generator: name,
    prompt: prompt.trim() || 'A loaf of rye bread on a wooden table',
    parameters: requestParameters(form, values),
    ...named,
    edits: editsPictures(form),
  };
  return (
    <div className="mt-10">
      <Disclosure title="Use from code">
        <p className="mb-3 text-compact text-muted">
          <code>BAKEHOUSE_API_KEY</code> is one of{' '}
          <Link to="/api-key" className="rounded text-accent-text hover:underline">
            your API keys
          </Link>
          .
        </p>
        <CodeTabs examples={generationExamples(window.location.origin, request)} />
      </Disclosure>
    </div>
  );
}
