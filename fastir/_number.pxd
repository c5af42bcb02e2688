# Decimal text to the nearest double.
cdef const unsigned char* read_number(const unsigned char* p, double* out) noexcept nogil
