import { number } from '../../text'

/** money writes micro-USD; small amounts keep the digits that tell them apart. */
export function money(micro: number): string {
  const usd = micro / 1e6
  const digits = usd !== 0 && Math.abs(usd) < 1 ? 6 : 2
  return number(usd, { style: 'currency', currency: 'USD', minimumFractionDigits: 2, maximumFractionDigits: digits })
}

/** short writes a number for the edge of a chart. */
export function short(n: number): string {
  return number(n, { notation: 'compact', maximumFractionDigits: 1 })
}
