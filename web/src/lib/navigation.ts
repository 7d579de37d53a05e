type Navigate = (path: string) => void;

let navigate: Navigate = (path) => location.assign(path);

/** `main.tsx` gives the router's own navigation, so that code outside of components need not import the routes. */
export function setNavigate(fn: Navigate): void {
  navigate = fn;
}

/** Goes to a path of this app. */
export function goTo(path: string): void {
  navigate(path);
}
