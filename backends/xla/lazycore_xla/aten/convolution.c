/* Convolutions inside of an XLA program, computed by ATen: handlers of XLA's foreign function interface that call the
 * C functions which PyTorch's library exports.
 *
 * A batch is cut into as many parts as XLA has threads. Each part runs on one thread, so that no second pool of threads
 * wakes, spins and takes the processor from XLA's. The thread that XLA called works on the parts as well and waits only
 * for those that others have begun: it needs nobody, and two convolutions at once cannot wait for each other.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "xla/ffi/api/c_api.h"

typedef void *Tensor;
typedef const int64_t *Sizes;

enum { MAX_RANK = 8, RESULTS = 3 };

/* PyTorch's functions, in the order of the Python side's list of names. */
static struct {
  int32_t (*cpu)(void);
  int32_t (*float32)(void);
  int (*from_blob)(void *, int64_t rank, Sizes sizes, Sizes strides, int64_t offset, int32_t dtype, int32_t device,
                   int32_t index, Tensor *result);
  int (*drop)(Tensor);
  int (*copy)(Tensor to, Tensor from, int32_t non_blocking);
  int (*convolution)(Tensor x, Tensor weight, Tensor *bias, Sizes stride, int64_t, Sizes padding, int64_t,
                     Sizes dilation, int64_t, int32_t transposed, Sizes output_padding, int64_t, int64_t groups,
                     Tensor *result);
  int (*backward)(Tensor gradient, Tensor x, Tensor weight, Sizes *bias_sizes, int64_t, Sizes stride, int64_t,
                  Sizes padding, int64_t, Sizes dilation, int64_t, int32_t transposed, Sizes output_padding, int64_t,
                  int64_t groups, const int32_t *mask, int64_t, Tensor *, Tensor *, Tensor *);
  int (*threads)(void);
  void (*set_threads)(int);
} aten;

int lazycore_use(void **functions, int count) {
  if (count * sizeof(void *) != sizeof aten) return 1;
  for (int i = 0; i < count; i++) ((void **)&aten)[i] = functions[i];
  return 0;
}

/* What the Python side passes as one array of integers; sizes are per spatial dimension. */
typedef struct {
  int64_t spatial, transposed, groups, last, wants_x, wants_weight;
  Sizes stride, padding, dilation, output_padding;
} Window;

typedef struct Call Call;
struct Call {
  int (*part)(Call *, int part);
  Window window;
  XLA_FFI_Buffer gradient, x, weight, result, weight_result;
  float *sums; /* the weight's gradient by each part but the first, which writes to the result */
  int parts;
  atomic_int next, references, failed;
  int done;
  pthread_mutex_t lock;
  pthread_cond_t finished;
};

/* The tensor of some of a buffer's images; channels come second, and are last in memory where the window says so. */
static Tensor images(const Call *call, const XLA_FFI_Buffer *buffer, int part) {
  int64_t sizes[MAX_RANK], strides[MAX_RANK], step = 1, rank = buffer->rank;
  int64_t first = buffer->dims[0] * part / call->parts, end = buffer->dims[0] * (part + 1) / call->parts;
  for (int64_t i = rank - 1; i >= 0; i--) {
    int64_t dim = !call->window.last || i == 0 ? i : i == rank - 1 ? 1 : i + 1;
    sizes[dim] = buffer->dims[i];
    strides[dim] = step;
    step *= buffer->dims[i];
  }
  sizes[0] = end - first;
  Tensor tensor = NULL;
  float *data = (float *)buffer->data + first * strides[0];
  aten.from_blob(data, rank, sizes, strides, 0, aten.float32(), aten.cpu(), -1, &tensor);
  return tensor;
}

static Tensor dense(const XLA_FFI_Buffer *buffer, void *data) {
  int64_t strides[MAX_RANK], step = 1;
  for (int64_t i = buffer->rank - 1; i >= 0; i--) {
    strides[i] = step;
    step *= buffer->dims[i];
  }
  Tensor tensor = NULL;
  aten.from_blob(data, buffer->rank, buffer->dims, strides, 0, aten.float32(), aten.cpu(), -1, &tensor);
  return tensor;
}

static int64_t elements(const XLA_FFI_Buffer *buffer) {
  int64_t count = 1;
  for (int64_t i = 0; i < buffer->rank; i++) count *= buffer->dims[i];
  return count;
}

static void drop(Tensor tensor) {
  if (tensor) aten.drop(tensor);
}

/* Copy into memory of XLA's. */
static int deliver(Tensor to, Tensor from) {
  int failed = !to || !from || aten.copy(to, from, 0);
  drop(to);
  return failed;
}

static int forward_part(Call *call, int part) {
  const Window *w = &call->window;
  const int64_t n = w->spatial;
  Tensor x = images(call, &call->x, part), weight = dense(&call->weight, call->weight.data), result = NULL;
  int failed = !x || !weight ||
               aten.convolution(x, weight, NULL, w->stride, n, w->padding, n, w->dilation, n, (int32_t)w->transposed,
                                w->output_padding, n, w->groups, &result);
  failed = failed || deliver(images(call, &call->result, part), result);
  drop(x), drop(weight), drop(result);
  return failed;
}

static int backward_part(Call *call, int part) {
  const Window *w = &call->window;
  const int64_t n = w->spatial;
  const int32_t mask[RESULTS] = {(int32_t)w->wants_x, (int32_t)w->wants_weight, 0};
  Tensor gradient = images(call, &call->gradient, part), x = images(call, &call->x, part);
  Tensor weight = dense(&call->weight, call->weight.data), results[RESULTS] = {NULL};
  int failed = !gradient || !x || !weight ||
               aten.backward(gradient, x, weight, NULL, 0, w->stride, n, w->padding, n, w->dilation, n,
                             (int32_t)w->transposed, w->output_padding, n, w->groups, mask, RESULTS, &results[0],
                             &results[1], &results[2]);
  if (!failed && w->wants_x) failed = deliver(images(call, &call->result, part), results[0]);
  if (!failed && w->wants_weight) {
    void *data = part ? call->sums + (part - 1) * elements(&call->weight) : call->weight_result.data;
    failed = deliver(dense(&call->weight, data), results[1]);
  }
  for (int i = 0; i < RESULTS; i++) drop(results[i]);
  drop(gradient), drop(x), drop(weight);
  return failed;
}

static void release(Call *call) {
  if (atomic_fetch_sub(&call->references, 1) > 1) return;
  pthread_cond_destroy(&call->finished);
  pthread_mutex_destroy(&call->lock);
  free(call->sums);
  free(call);
}

/* Take parts until none is left. */
static void work(Call *call) {
  const int threads = aten.threads();
  int part, worked = 0;
  aten.set_threads(1); /* of this thread alone, which may be the program's own */
  while ((part = atomic_fetch_add(&call->next, 1)) < call->parts) {
    if (call->part(call, part)) atomic_store(&call->failed, 1);
    worked++;
  }
  aten.set_threads(threads);
  if (!worked) return;
  pthread_mutex_lock(&call->lock);
  call->done += worked;
  if (call->done == call->parts) pthread_cond_signal(&call->finished);
  pthread_mutex_unlock(&call->lock);
}

static void task(void *data) {
  work(data);
  release(data);
}

static XLA_FFI_Error *error(XLA_FFI_CallFrame *frame, const char *message) {
  XLA_FFI_Error_Create_Args arguments = {sizeof arguments, NULL, message, XLA_FFI_Error_Code_INTERNAL};
  return frame->api->XLA_FFI_Error_Create(&arguments);
}

static void ignore(XLA_FFI_CallFrame *frame, XLA_FFI_Error *problem) {
  XLA_FFI_Error_Destroy_Args arguments = {sizeof arguments, NULL, problem};
  if (problem) frame->api->XLA_FFI_Error_Destroy(&arguments);
}

static int64_t pool_size(XLA_FFI_CallFrame *frame) {
  int64_t threads = 1;
  XLA_FFI_ThreadPool_NumThreads_Args arguments = {sizeof arguments, NULL, frame->ctx, &threads};
  ignore(frame, frame->api->XLA_FFI_ThreadPool_NumThreads(&arguments));
  return threads;
}

/* Give the other threads of XLA's a chance; what they do not take this one does. */
static void invite(XLA_FFI_CallFrame *frame, Call *call) {
  for (int i = 1; i < call->parts; i++) {
    XLA_FFI_ThreadPool_Schedule_Args arguments = {sizeof arguments, NULL, frame->ctx, task, call};
    atomic_fetch_add(&call->references, 1);
    XLA_FFI_Error *problem = frame->api->XLA_FFI_ThreadPool_Schedule(&arguments);
    if (!problem) continue;
    ignore(frame, problem);
    atomic_fetch_sub(&call->references, 1);
    return;
  }
}

static void add_up(Call *call) {
  const int64_t count = elements(&call->weight);
  float *total = call->weight_result.data;
  for (int part = 1; part < call->parts; part++) {
    const float *sum = call->sums + (part - 1) * count;
    for (int64_t i = 0; i < count; i++) total[i] += sum[i];
  }
}

/* Run the call's parts, and free it. */
static XLA_FFI_Error *run(XLA_FFI_CallFrame *frame, Call *call, const char *problem) {
  invite(frame, call);
  work(call);
  pthread_mutex_lock(&call->lock);
  while (call->done < call->parts) pthread_cond_wait(&call->finished, &call->lock);
  pthread_mutex_unlock(&call->lock);
  const bool failed = atomic_load(&call->failed);
  if (!failed && call->window.wants_weight) add_up(call);
  release(call);
  return failed ? error(frame, problem) : NULL;
}

static Window window_of(XLA_FFI_CallFrame *frame) {
  const int64_t *given = ((XLA_FFI_Array *)frame->attrs.attrs[0])->data, spatial = given[0], *sizes = given + 6;
  Window window = {spatial, given[1], given[2], given[3], given[4], given[5],
                   sizes, sizes + spatial, sizes + 2 * spatial, sizes + 3 * spatial};
  return window;
}

static Call *call_of(XLA_FFI_CallFrame *frame, int (*part)(Call *, int), int64_t batch) {
  Call *call = calloc(1, sizeof *call);
  if (!call) return NULL;
  const int64_t threads = pool_size(frame);
  call->part = part;
  call->window = window_of(frame);
  call->parts = (int)(batch < threads ? batch : threads);
  atomic_init(&call->references, 1);
  pthread_mutex_init(&call->lock, NULL);
  pthread_cond_init(&call->finished, NULL);
  return call;
}

/* XLA asks a handler for its version before it calls it. */
static bool asked_for_version(XLA_FFI_CallFrame *frame) {
  for (XLA_FFI_Extension_Base *e = frame->extension_start; e; e = e->next) {
    if (e->type != XLA_FFI_Extension_Metadata) continue;
    XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)e)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    metadata->traits = 0;
    return true;
  }
  return false;
}

/* (x, weight) -> the convolution. */
XLA_FFI_Error *lazycore_convolution(XLA_FFI_CallFrame *frame) {
  if (asked_for_version(frame)) return NULL;
  XLA_FFI_Buffer *x = frame->args.args[0];
  Call *call = call_of(frame, forward_part, x->dims[0]);
  if (!call) return error(frame, "no memory for a convolution");
  call->x = *x;
  call->weight = *(XLA_FFI_Buffer *)frame->args.args[1];
  call->result = *(XLA_FFI_Buffer *)frame->rets.rets[0];
  return run(frame, call, "ATen could not compute a convolution");
}

/* (gradient, x, weight) -> those of x's and the weight's gradients that are wanted. */
XLA_FFI_Error *lazycore_convolution_backward(XLA_FFI_CallFrame *frame) {
  if (asked_for_version(frame)) return NULL;
  XLA_FFI_Buffer *x = frame->args.args[1];
  Call *call = call_of(frame, backward_part, x->dims[0]);
  if (!call) return error(frame, "no memory for a convolution's gradients");
  call->gradient = *(XLA_FFI_Buffer *)frame->args.args[0];
  call->x = *x;
  call->weight = *(XLA_FFI_Buffer *)frame->args.args[2];
  if (call->window.wants_x) call->result = *(XLA_FFI_Buffer *)frame->rets.rets[0];
  if (call->window.wants_weight) {
    call->weight_result = *(XLA_FFI_Buffer *)frame->rets.rets[call->window.wants_x ? 1 : 0];
    call->sums = malloc(call->parts * elements(&call->weight) * sizeof(float));
    if (!call->sums) {
      release(call);
      return error(frame, "no memory for a convolution's gradients");
    }
  }
  return run(frame, call, "ATen could not compute a convolution's gradients");
}
