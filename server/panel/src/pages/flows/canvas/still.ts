import { selection } from 'd3-selection'

// The drawing never moves by itself: what is asked for is there at once. So the
// libraries that animate (d3-transition, d3-interpolate; see vite.config.ts) are
// left out, and this stands for what the drawing calls of them.

/** interrupt ends an animation; there is none. */
export const interrupt = () => undefined

Object.assign(selection.prototype, {
  interrupt(this: unknown) {
    return this
  },
})

/** interpolate goes from one value to another, at once. */
export const interpolate = (_: unknown, to: unknown) => () => to
export const interpolateZoom = interpolate
