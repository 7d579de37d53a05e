import { Link } from '@tanstack/react-router';
import { useHelpLinks } from '../../documentation/help-links.ts';

/** Links to the product's documentation or the operator's. */
export function DocumentationLink({ className }: { className: string }) {
  const { documentation } = useHelpLinks();
  if (documentation === null) {
    return (
      <Link to="/docs" className={className}>
        Documentation
      </Link>
    );
  }
  return (
    <a href={documentation} target="_blank" rel="noreferrer" className={className}>
      Documentation
      <span className="sr-only"> (opens in a new tab)</span>
    </a>
  );
}
