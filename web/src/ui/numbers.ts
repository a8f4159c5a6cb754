import { getLocale } from '#runtime';

/** US dollars. Of amounts below a cent two digits are shown, since a reply may cost less than that. */
export function usd(amount: number): string {
  const isSmall = amount !== 0 && Math.abs(amount) < 0.01;
  const digits = isSmall ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 };
  const options = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;
  return new Intl.NumberFormat(getLocale(), { ...options, ...digits }).format(amount);
}

export const count = (number: number) => new Intl.NumberFormat(getLocale()).format(number);

/** A large number in few letters: 272K. */
export function compact(number: number): string {
  return new Intl.NumberFormat(getLocale(), {
    notation: 'compact',
    maximumFractionDigits: 1
  }).format(number);
}

/** A moment of today by its time, of another day with its date. */
export function timeOf(moment: string): string {
  const date = new Date(moment);
  const isToday = date.toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ day: 'numeric', month: 'short' } as const);
  return date.toLocaleString(getLocale(), { ...day, hour: 'numeric', minute: '2-digit' });
}

/** The day of a moment, without its year. */
export const dayOf = (moment: string) =>
  new Date(moment).toLocaleDateString(getLocale(), { day: 'numeric', month: 'long' });

/** A number of bytes, as people read it. */
export function size(bytes: number): string {
  const [unit, amount] =
    bytes < 1000
      ? ['byte', bytes]
      : bytes < 1e6
        ? ['kilobyte', bytes / 1e3]
        : ['megabyte', bytes / 1e6];
  const style = {
    style: 'unit',
    unit,
    unitDisplay: unit === 'byte' ? 'long' : 'short',
    maximumFractionDigits: amount < 10 ? 1 : 0
  } as const;
  return new Intl.NumberFormat(getLocale(), style).format(amount);
}
